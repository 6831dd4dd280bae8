import type { Fetched, FetchTarget, ServerFile } from '../protocol';

/** More than what a file system keeps beside its names: a full disk does not take it. */
export const PROOF_BYTES = 64 * 1024;

/** Where a run's files are, on the way in and on the way out. One implementation per way of reaching the server's folders. */
export interface RunFiles {
  /**
   * Puts an input file where nodes find it as `name`, a path below ComfyUI's input folder.
   *
   * @throws {UnusableInput} when the file is not there, or the server does not take it
   */
  stage(path: string, name: string): Promise<void>;
  /** Fetches a file of the server; null when it is not there. */
  fetch(file: ServerFile, target: FetchTarget, signal: AbortSignal): Promise<Fetched | null>;
  /** Files below a folder of the output folder, by name; empty where the folders can't be read. */
  list(folder: string): Promise<ServerFile[]>;
  /** The files of a run are in use: `cleanLeft` counts the time from now on. Never rejects. */
  keep(runId: string): Promise<void>;
  /** Removes what a run left, as far as it can be reached: its folders, and these temporary files, which lie anywhere. */
  clean(runId: string, temporary: readonly ServerFile[]): Promise<void>;
  /** Ids of the runs that have files; empty where the folders can't be read. */
  runs(): Promise<string[]>;
  /**
   * Removes what earlier runs left because their process died: what these runs have, and of all others what has not changed, nor
   * been kept, for a day. The folders may be shared with engines that have runs now.
   */
  cleanLeft(runIds: readonly string[]): Promise<void>;
  /**
   * Writes `PROOF_BYTES` into each folder, and gives the room back.
   *
   * @throws what the disk says
   */
  prove(): Promise<void>;
}

/** An input file is not there, or the server does not take it: the message is a sentence for the author of the job. */
export class UnusableInput extends Error {}
