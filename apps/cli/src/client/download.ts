import { randomUUID } from 'node:crypto';
import { constants, createWriteStream } from 'node:fs';
import { access, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  CliFailure,
  codeOf,
  Interrupted,
  isDiskFault,
  makeFolder,
  openInPlace,
  reasonOf,
  SaveFailure,
  savePlace,
  ServiceFailure,
  ServiceRefusal,
  UsageFailure,
} from '../process';
import type { ApiClient } from './api.client';
import type { AssetsClient } from './assets.client';
import { ContentHash, hashFile } from './file-hash';
import { numberedName, safeFileName } from './file-name';

/** What is to be fetched: an output or an asset. `hash` is null while the service has not computed it. */
export interface Downloadable {
  id: string;
  name: string;
  url: string;
  size_bytes: number;
  hash: string | null;
}

/** A file on this machine whose bytes match the hash of the service; `hash` is computed here. */
export interface SavedFile {
  path: string;
  hash: string;
  sizeBytes: number;
}

/** How many files of one name a folder may hold. */
const MAX_NAMES = 10_000;
const TRIES = 3;

/** Downloads bytes, verifies them against their hash, and only then gives them their name. */
export class Downloader {
  constructor(
    private readonly api: ApiClient,
    private readonly assets: AssetsClient,
  ) {}

  /**
   * Save under a name in `folder` that no file has yet, as close to the wanted one as is safe.
   *
   * @throws {ServiceFailure} `hash_mismatch` when the bytes do not match; nothing is left behind.
   * @throws {SaveFailure} when the folder, or a file in it, cannot be written.
   */
  async saveInto(folder: string, wanted: Downloadable, signal?: AbortSignal): Promise<SavedFile> {
    await makeWritable(folder).catch((error: unknown) => Promise.reject(notSaved(folder, error)));
    const name = safeFileName(wanted.name, `file-${wanted.id}`);
    return this.save(join(folder, name), wanted, signal, (draft) => moveToFreeName(draft, folder, name));
  }

  /**
   * Find a file in `folder` that has these bytes, under the name that `saveInto` gives or a numbered one of it.
   *
   * @param others files that are not meant, such as those of other outputs with the same bytes.
   * @returns null where there is none, or the service has no hash to compare with.
   */
  async findIn(
    folder: string,
    wanted: Downloadable,
    others: ReadonlySet<string>,
    signal?: AbortSignal,
  ): Promise<SavedFile | null> {
    const { hash, size_bytes: sizeBytes } = wanted;
    if (hash === null) return null;
    const name = safeFileName(wanted.name, `file-${wanted.id}`);
    for (let nth = 1; nth <= MAX_NAMES; nth += 1) {
      const path = join(folder, numberedName(name, nth));
      const found = await stat(path).catch(() => null);
      if (found === null) return null;
      if (others.has(path) || !found.isFile() || found.size !== sizeBytes) continue;
      // What cannot be read is not known to have them.
      if ((await hashFile(path, signal).catch(() => null)) === hash) return { path, hash, sizeBytes };
      if (signal?.aborted) throw new Interrupted('Interrupted.');
    }
    return null;
  }

  /**
   * Make a folder, and those above it, and check that files can be saved in it, before anything is asked of the service.
   *
   * @throws {UsageFailure} when they cannot.
   */
  async prepare(folder: string): Promise<void> {
    await makeWritable(folder).catch((error: unknown) => {
      throw new UsageFailure(unwritable(folder, error), 'Name another place.');
    });
  }

  /**
   * Save under exactly this name; an existing file is replaced once the bytes are verified, behind a link too, which stays. What is no file,
   * such as a device or a pipe, is written to.
   *
   * @throws as `saveInto`.
   */
  async saveTo(path: string, wanted: Downloadable, signal?: AbortSignal): Promise<SavedFile> {
    const place = await savePlace(path).catch((error: unknown) => Promise.reject(notSaved(path, error)));
    if (!place.isReplaceable) return this.writeTo(path, wanted, signal);
    return this.save(place.path, wanted, signal, async (draft) => {
      await rename(draft, place.path);
      return path;
    });
  }

  /** In one try, because what is written cannot be taken back. */
  private async writeTo(path: string, wanted: Downloadable, signal?: AbortSignal): Promise<SavedFile> {
    const response = await this.answer(wanted, signal);
    const hash = new ContentHash();
    const write = async (): Promise<void> => {
      const to = await openInPlace(path, signal);
      // Read from here on, so that what ends the body while a pipe waits for its reader is an error of nobody.
      return pipeline(body(response), hashing(hash), to, { signal });
    };
    try {
      await this.transfer(wanted, signal, write);
    } catch (error) {
      throw error instanceof CliFailure ? error : notSaved(path, error);
    }
    return { path, hash: verify(wanted, hash), sizeBytes: hash.sizeBytes };
  }

  /** @param name gives the verified draft its name, and returns the path. Before that no file has one. */
  private async save(
    path: string,
    wanted: Downloadable,
    signal: AbortSignal | undefined,
    name: (draft: string) => Promise<string>,
  ): Promise<SavedFile> {
    const draft = `${path}.${randomUUID().slice(0, 8)}.part`;
    try {
      const { hash, sizeBytes } = await this.fetchVerified(wanted, () => createWriteStream(draft), signal);
      return { path: await name(draft), hash, sizeBytes };
    } catch (error) {
      // What keeps the file from being written may keep it from being removed, too.
      await rm(draft, { force: true }).catch(() => undefined);
      throw error instanceof CliFailure ? error : notSaved(path, error);
    }
  }

  /** Write to a stream, in one try, because what is written cannot be taken back; the stream stays open. */
  async pipeTo(target: NodeJS.WritableStream, wanted: Downloadable, signal?: AbortSignal): Promise<void> {
    const response = await this.answer(wanted, signal);
    const hash = new ContentHash();
    await this.transfer(wanted, signal, async () => {
      for await (const chunk of body(response) as AsyncIterable<Uint8Array>) {
        hash.update(chunk);
        if (!target.write(chunk)) await new Promise((drained) => target.once('drain', drained));
      }
    });
    verify(wanted, hash);
  }

  private async fetchVerified(
    wanted: Downloadable,
    to: () => Writable,
    signal?: AbortSignal,
  ): Promise<{ hash: string; sizeBytes: number }> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const response = await this.answer(wanted, signal);
        const hash = new ContentHash();
        await this.transfer(wanted, signal, () => pipeline(body(response), hashing(hash), to(), { signal }));
        return { hash: verify(wanted, hash), sizeBytes: hash.sizeBytes };
      } catch (error) {
        const isCut = error instanceof ServiceFailure && error.code === 'download_cut';
        if (!isCut || attempt === TRIES) throw error;
      }
    }
  }

  /** A signed link may have expired since the job ended: then a fresh one is read, once. */
  private async answer(wanted: Downloadable, signal?: AbortSignal): Promise<Response> {
    try {
      return await this.api.open(this.api.link(wanted.url), { isContent: true, signal });
    } catch (error) {
      if (!(error instanceof ServiceRefusal)) throw error;
      const { url } = await this.assets.get(wanted.id, signal);
      return this.api.open(this.api.link(url), { isContent: true, signal });
    }
  }

  private async transfer(
    wanted: Downloadable,
    signal: AbortSignal | undefined,
    move: () => Promise<void>,
  ): Promise<void> {
    try {
      await move();
    } catch (error) {
      if (signal?.aborted) throw new Interrupted('Interrupted.');
      if (isDiskFault(error)) throw error;
      throw new ServiceFailure(`The download of ${wanted.name} was cut off.`, {
        code: 'download_cut',
        cause: error,
        cure: 'Download it again.',
      });
    }
  }
}

function body(response: Response): Readable {
  return response.body ? Readable.fromWeb(response.body) : Readable.from([]);
}

function hashing(hash: ContentHash): Transform {
  return new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      hash.update(chunk);
      done(null, chunk);
    },
  });
}

/** @throws {ServiceFailure} `hash_mismatch` */
function verify(wanted: Downloadable, bytes: ContentHash): string {
  const hash = bytes.digest();
  if (hash === (wanted.hash ?? hash) && bytes.sizeBytes === wanted.size_bytes) return hash;
  const received = `${hash} of ${bytes.sizeBytes} bytes`;
  const expected = `${wanted.hash ?? 'no hash'} of ${wanted.size_bytes} bytes`;
  throw new ServiceFailure(`The bytes of ${wanted.name} do not match: received ${received}, expected ${expected}.`, {
    code: 'hash_mismatch',
    cure: 'Download it again; if that does not help, contact the operator of the service.',
  });
}

/** An empty file takes the name for this download and for no other; not by a hard link, which some file systems lack. */
async function moveToFreeName(draft: string, folder: string, name: string): Promise<string> {
  for (let nth = 1; nth <= MAX_NAMES; nth += 1) {
    const path = join(folder, numberedName(name, nth));
    try {
      await (await open(path, 'wx')).close();
    } catch (error) {
      if (codeOf(error) === 'EEXIST') continue;
      throw error;
    }
    await rename(draft, path);
    return path;
  }
  throw new SaveFailure(`${folder} has too many files named ${name}.`, { cure: 'Save it in another folder.' });
}

async function makeWritable(folder: string): Promise<void> {
  await makeFolder(folder);
  await access(folder, constants.W_OK | constants.X_OK);
}

/** What has no path of its own, such as a full disk, is an error of the file all the same. */
function notSaved(path: string, cause: unknown): SaveFailure {
  return new SaveFailure(unwritable(path, cause), { cause, cure: 'Make room there, or save it elsewhere.' });
}

function unwritable(path: string, error: unknown): string {
  return `${path} cannot be written: ${reasonOf(error)}.`;
}
