import type { StoredBlob } from '../records';
import type { StagedBytes } from '../store';
import { isGone } from './upload-refusals';

/** How often bytes are kept that are gone before an asset refers to them, as where the only other one that had them is erased at this moment. */
const TRIES = 4;

/** What keeping them takes of staged bytes. */
export type KeptBytes = Pick<StagedBytes, 'hash' | 'sizeBytes' | 'place' | 'flush'>;

/**
 * Keep staged bytes, and make something of them: again where they were found, and are gone by then. Bytes that were placed are staged no more.
 *
 * @param mint throws BlobStoreError `missing` where they are gone. @throws what `keep` and `mint` throw.
 */
export async function keptUntilMinted<T>(
  staged: KeptBytes,
  keep: (staged: KeptBytes) => Promise<StoredBlob>,
  mint: (blob: StoredBlob) => Promise<T>,
): Promise<T> {
  let isPlaced = false;
  const place = (key: string): Promise<void> => {
    isPlaced = true;
    return staged.place(key);
  };
  const { hash, sizeBytes } = staged;
  const watched: KeptBytes = { hash, sizeBytes, place, flush: async () => staged.flush?.() };
  for (let tries = 1; ; tries += 1) {
    const blob = await keep(watched);
    try {
      return await mint(blob);
    } catch (error) {
      if (!isGone(error) || isPlaced || tries >= TRIES) throw error;
    }
  }
}
