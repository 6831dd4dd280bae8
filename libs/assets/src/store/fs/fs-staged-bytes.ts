import { rm } from 'node:fs/promises';
import type { BytesDigest, StagedBytes } from '../staged-bytes';
import { withFsFaults } from './fs-fault';

/** More is not written to the disk before it is known that it has to be. */
const FLUSHED_BYTES = 4 * 1024 * 1024;

/** How a folder keeps staged bytes. */
export interface StagedFile {
  path: string;
  /** The file is there; else `makeDurable` makes it. */
  isWritten: boolean;
  /** Resolves when the bytes are in the file, and safe there. Called once. */
  makeDurable: () => Promise<void>;
  /** Move the file to where it is found by `key`, once `durable` resolves. */
  place: (key: string, durable: Promise<void>) => Promise<void>;
}

/** Bytes that are staged as a file of a folder, or will be once they are made durable. */
export function stagedInFolder(digest: BytesDigest, file: StagedFile): StagedBytes {
  let flushing: Promise<void> | null = null;
  let isThere = file.isWritten;
  const flush = (): Promise<void> => {
    if (flushing !== null) return flushing;
    isThere = true;
    flushing = file.makeDurable();
    // Awaited by `place`, which may not come.
    flushing.catch(() => undefined);
    return flushing;
  };
  const remove = async (): Promise<void> => {
    if (!isThere) return;
    await flushing?.catch(() => undefined);
    await rm(file.path, { force: true });
  };
  return {
    ...digest,
    flush: async () => {
      if (digest.sizeBytes <= FLUSHED_BYTES) await withFsFaults(flush);
    },
    place: async (key) => {
      try {
        await withFsFaults(() => file.place(key, flush()));
        isThere = false;
      } catch (error) {
        await remove().catch(() => undefined);
        throw error;
      }
    },
    discard: () => withFsFaults(remove),
  };
}
