import { randomUUID } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Command } from 'commander';
import type { ApiClient, CallOptions } from '../client';
import {
  CliFailure,
  codeOf,
  interruptible,
  Interrupted,
  isDiskFault,
  openInPlace,
  reasonOf,
  SaveFailure,
  savePlace,
  ServiceFailure,
  UsageFailure,
} from '../process';
import type { CommandContext } from './command-context';

/** Where a command saves the file that it fetches. */
export interface SaveFlags {
  out?: string;
  force?: boolean;
}

/** @param preset the name of the file without `--out`. */
export function savedAs(command: Command, preset: string): Command {
  return command
    .option('--out <file>', `save it here; by default ${preset}`)
    .option('--force', 'replace the file if it is there already');
}

interface SaveOptions extends Pick<CallOptions, 'headers'> {
  /** Replaces a file that has the name already. */
  force?: boolean | undefined;
  /** Of the new file; by default its owner alone can read it. */
  mode?: number;
}

/**
 * Save what an address answers. The file has its name when all of it is there; nothing is left of one that is not. A link to a file stays,
 * and what is no file, such as a device or a pipe, is written to.
 *
 * @throws {UsageFailure} where there is a file of that name, which only `force` replaces.
 * @throws {ServiceFailure} when it was cut off.
 * @throws {SaveFailure} when the file cannot be written.
 * @throws {Interrupted} at Ctrl-C.
 */
export function saveDownload(
  { host }: Pick<CommandContext, 'host'>,
  api: ApiClient,
  from: URL,
  path: string,
  { headers, force = false, mode = 0o600 }: SaveOptions = {},
): Promise<void> {
  if (!force && existsSync(path)) return Promise.reject(taken(path));
  return interruptible(host, async (signal) => {
    const place = await savePlace(path).catch((error: unknown) => Promise.reject(cutOff(error)));
    const draft = `${place.path}.${randomUUID().slice(0, 8)}.part`;
    const { body } = await api.open(from, { headers, signal });
    try {
      const to = place.isReplaceable ? createWriteStream(draft, { mode }) : await openInPlace(path, signal);
      await pipeline(body === null ? Readable.from([]) : Readable.fromWeb(body), to, { signal });
      if (!place.isReplaceable) return;
      if (!force) await claim(place.path);
      await rename(draft, place.path);
    } catch (error) {
      // What keeps the file from being written may keep it from being removed, too.
      await rm(draft, { force: true }).catch(() => undefined);
      if (signal.aborted) throw new Interrupted('Interrupted; nothing was saved.');
      throw error instanceof CliFailure ? error : cutOff(error);
    }
  });
}

/** An empty file takes the name for this download and for no other. @throws {UsageFailure} where another has it meanwhile. */
async function claim(path: string): Promise<void> {
  try {
    await (await open(path, 'wx')).close();
  } catch (error) {
    throw codeOf(error) === 'EEXIST' ? taken(path) : error;
  }
}

function taken(path: string): UsageFailure {
  return new UsageFailure(
    `There is a file at ${path} already.`,
    'Name another place with --out, or replace the file with --force.',
  );
}

/** What an answer's body that ended early is to the reader. */
export function cutOff(error: unknown): SaveFailure | ServiceFailure {
  if (isDiskFault(error))
    return new SaveFailure(`The file cannot be written: ${reasonOf(error)}.`, {
      cause: error,
      cure: 'Make room there, or save it elsewhere.',
    });
  return new ServiceFailure('The download was cut off.', {
    code: 'download_cut',
    cause: error,
    cure: 'Run it again.',
  });
}
