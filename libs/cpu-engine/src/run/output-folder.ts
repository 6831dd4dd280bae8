import { randomUUID } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, posix } from 'node:path';
import { HELD_BYTES } from '@millrace/engines';
import type { NewFile } from '../node-api/node-context';
import { NodeFault } from '../node-api/node-fault';

/** The longest name that common file systems hold, in bytes, less what the counter and extension take. */
const MAX_BASE_BYTES = 230;
const MAX_PREFIX_BYTES = 1024;

/** What a file system says to names that it does not like. */
const NAME_FAULTS = new Set(['ENAMETOOLONG', 'ENOTDIR', 'EEXIST', 'EISDIR', 'EINVAL', 'EILSEQ']);

/** Thrown when a file can not be written for a reason that is not the workflow's. The message is a part of a sentence. */
export class OutputWriteError extends Error {}

/** The folder that a run writes into, made with its first file. */
export class OutputFolder {
  /** Of the texts that the run hands over in memory. */
  private heldBytes = 0;

  constructor(private readonly root: string) {}

  /**
   * Write files named as ComfyUI names them: `prefix_00001_.png`, numbered on from the highest number that stands with
   * this prefix, all its tokens filled in. `written` is called with each file when it is there.
   *
   * @throws {NodeFault} when the prefix leads out of the folder, or can not be a file name.
   * @throws {OutputWriteError} when the disk refuses.
   */
  async write(
    file: NewFile,
    count: number,
    encode: (index: number) => Promise<Buffer>,
    written: (name: string, path: string) => void,
  ): Promise<void> {
    const { folder, base } = namesOf(file, new Date());
    const directory = join(this.root, folder);
    const starts = Array.from({ length: count }, (_, index) => `${base.replaceAll('%batch_num%', String(index))}_`);
    const first = await this.nextNumber(directory, new Set(starts));
    for (const [index, start] of starts.entries()) {
      const bytes = await encode(index);
      const name = `${start}${fiveDigits(first + index)}_${file.extension}`;
      const path = join(directory, name);
      await onDisk(() => writeFile(path, bytes));
      written(name, path);
    }
  }

  /**
   * The text itself, as long as the run may hand texts over in memory; else the path of a new file that has it. No prefix names that.
   *
   * @throws {OutputWriteError} when the disk refuses.
   */
  async keepText(text: string): Promise<{ kind: 'text'; text: string } | { kind: 'text_file'; path: string }> {
    const bytes = Buffer.byteLength(text);
    if (this.heldBytes + bytes <= HELD_BYTES) {
      this.heldBytes += bytes;
      return { kind: 'text', text };
    }
    const path = join(this.root, `${randomUUID()}.txt`);
    await mkdir(this.root, { recursive: true })
      .then(() => writeFile(path, text))
      .catch(failOnDisk);
    return { kind: 'text_file', path };
  }

  private async nextNumber(directory: string, starts: ReadonlySet<string>): Promise<number> {
    // Apart from what the prefix adds to it, whose faults are the prefix's.
    await mkdir(this.root, { recursive: true }).catch(failOnDisk);
    await onDisk(() => mkdir(directory, { recursive: true }));
    const names = await onDisk(() => readdir(directory));
    return names.reduce((most, name) => Math.max(most, numberIn(name, starts)), 0) + 1;
  }
}

/** The number after one of these beginnings, each of which ends with `_`; 0 where there is none. */
function numberIn(name: string, starts: ReadonlySet<string>): number {
  let most = 0;
  for (let at = name.indexOf('_'); at >= 0; at = name.indexOf('_', at + 1)) {
    const digits = starts.has(name.slice(0, at + 1)) ? /^\d+(?=_|$)/.exec(name.slice(at + 1)) : null;
    if (digits) most = Math.max(most, Number(digits[0]));
  }
  return most;
}

/** Folder and base name that a prefix stands for, its tokens filled in. */
function namesOf({ prefix, width, height }: NewFile, now: Date): { folder: string; base: string } {
  const path = posix.normalize(filled(prefix, { width, height }, now)).replace(/\/+$/, '');
  const folder = dirname(path);
  if (isAbsolute(path) || folder.split('/').includes('..'))
    throw new NodeFault('filename_prefix leads out of the output folder; use a name without "../" and a leading "/".');
  const base = basename(path);
  if (base.includes('\0') || folder.includes('\0'))
    throw new NodeFault('filename_prefix holds a null character, which no file name can.');
  if (
    Buffer.byteLength(path) > MAX_PREFIX_BYTES ||
    path.split('/').some((part) => Buffer.byteLength(part) > MAX_BASE_BYTES)
  )
    throw new NodeFault(
      `filename_prefix is too long; use at most ${MAX_BASE_BYTES} bytes per folder and name, ${MAX_PREFIX_BYTES} in all.`,
    );
  return { folder, base };
}

function filled(prefix: string, { width, height }: { width: number; height: number }, now: Date): string {
  const tokens: Record<string, string> = {
    width: String(width),
    height: String(height),
    year: String(now.getFullYear()),
    month: twoDigits(now.getMonth() + 1),
    day: twoDigits(now.getDate()),
    hour: twoDigits(now.getHours()),
    minute: twoDigits(now.getMinutes()),
    second: twoDigits(now.getSeconds()),
  };
  return prefix.replace(/%(\w+)%/g, (token, name: string) =>
    Object.hasOwn(tokens, name) ? (tokens[name] as string) : token,
  );
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

function fiveDigits(value: number): string {
  return String(value).padStart(5, '0');
}

async function onDisk<T>(action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined && NAME_FAULTS.has(code))
      throw new NodeFault(`filename_prefix can not be a file name here (${code}).`);
    return failOnDisk(error);
  }
}

function failOnDisk(error: unknown): never {
  const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
  const is = code === 'ENOSPC' || code === 'EDQUOT' ? 'is full' : 'failed';
  throw new OutputWriteError(`the disk of its worker ${is} (${code})`);
}
