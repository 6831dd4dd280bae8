import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import type { InputFile } from '@millrace/engines';
import { InputUnavailable } from '../node-api/node-context';
import { describe } from '../node-api/value';

/** The field lets a name say which folder it is in; there is only the one of inputs here. */
const FOLDER_MARK = / ?\[(?:input|output|temp)\]$/;

/** The files that a run was given. */
export class InputFiles {
  private readonly files: ReadonlyMap<string, InputFile>;
  private readonly hashes = new Map<string, Promise<string>>();

  constructor(files: InputFile[]) {
    this.files = new Map(files.map((file) => [file.name, file]));
  }

  /**
   * Size in bytes and a way to the bytes.
   *
   * @throws {InputUnavailable}
   */
  async open(name: string): Promise<{ sizeBytes: number; read: () => Promise<Buffer> }> {
    const file = this.find(name);
    if (!file) throw new InputUnavailable(`The input file ${describe(name)} was not given to this run.`);
    const gone = (): never => {
      throw new InputUnavailable(`The input file ${describe(name)} is no longer there.`);
    };
    const { size } = await stat(file.path).catch(gone);
    return { sizeBytes: size, read: () => readFile(file.path).catch(gone) };
  }

  /** A hash of the content; of files that can not be read, one of their absence. */
  hash(name: string): Promise<string> {
    const known = this.hashes.get(name) ?? this.computeHash(name);
    this.hashes.set(name, known);
    return known;
  }

  private find(name: string): InputFile | undefined {
    return this.files.get(name) ?? this.files.get(name.replace(FOLDER_MARK, ''));
  }

  private async computeHash(name: string): Promise<string> {
    const file = this.find(name);
    if (!file) return 'absent';
    const hash = createHash('sha256');
    try {
      await pipeline(createReadStream(file.path), hash);
    } catch {
      return 'absent';
    }
    return hash.digest('hex');
  }
}
