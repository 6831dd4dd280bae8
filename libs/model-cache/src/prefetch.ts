import type { ModelFile } from '@millrace/contracts';
import { ModelUnavailable, type ModelFault } from './model-unavailable';
import { sum, type StagingProgress } from './wanted-models';

/** What is to be on the disk before a run needs it. */
export interface PrefetchRequest {
  accountId: string;
  /** In the order in which they are to come, and in which they are given room. */
  files: readonly ModelFile[];
  signal: AbortSignal;
  /** Called as bytes come in, of all that is to come; `stagedBytes` never decreases. Not throttled. */
  onProgress?: (progress: StagingProgress) => void;
}

/** A model that is not there, and why. */
export interface Unfetched {
  file: ModelFile;
  fault: ModelFault;
  /** A sentence that names the model. */
  message: string;
}

/** What a prefetch works on. */
export interface PrefetchParts {
  capacityBytes: () => Promise<number>;
  has: (file: ModelFile) => Promise<boolean>;
  /** Stages one model, and lets it go: it may be evicted from then on. @throws ModelUnavailable, or the reason of the signal. */
  stage: (file: ModelFile, onProgress: (progress: StagingProgress) => void) => Promise<void>;
}

/** The first models of a list that go into so many bytes together, and the others. One content takes its room once. */
export function planPrefetch(
  files: readonly ModelFile[],
  capacityBytes: number,
): { fitting: ModelFile[]; left: ModelFile[] } {
  const [fitting, left]: [ModelFile[], ModelFile[]] = [[], []];
  const taken = new Set<string>();
  let room = capacityBytes;
  for (const file of files) {
    const needed = taken.has(file.digest) ? 0 : file.sizeBytes;
    (needed <= room ? fitting : left).push(file);
    if (needed > room) continue;
    taken.add(file.digest);
    room -= needed;
  }
  return { fitting, left };
}

/**
 * Bring models to the disk, one after the other, without keeping any from being evicted. What is there is touched first: what comes
 * evicts what others used before it. More than the disk can hold is not begun: one would evict the other.
 *
 * @returns what did not come.
 * @throws the reason of the signal.
 */
export async function prefetch(request: PrefetchRequest, parts: PrefetchParts): Promise<Unfetched[]> {
  const { files, onProgress = () => undefined, signal } = request;
  const { fitting, left } = planPrefetch(files, await parts.capacityBytes());
  const unfetched = left.map((file): Unfetched => {
    const message = `The cache of the worker has no room for ${file.folder}/${file.name} beside the models before it.`;
    return { file, fault: 'too_large', message };
  });
  const totalBytes = sum(fitting.map(({ sizeBytes }) => sizeBytes));
  let doneBytes = 0;
  for (const file of await presentFirst(fitting, parts)) {
    const report = ({ stagedBytes }: StagingProgress): void =>
      onProgress({ stagedBytes: doneBytes + stagedBytes, totalBytes });
    try {
      await parts.stage(file, report);
    } catch (error) {
      if (!(error instanceof ModelUnavailable) || signal.aborted) throw error;
      unfetched.push({ file, fault: error.fault, message: error.message });
    }
    doneBytes += file.sizeBytes;
  }
  return unfetched;
}

async function presentFirst(files: readonly ModelFile[], { has }: PrefetchParts): Promise<ModelFile[]> {
  const [present, absent]: [ModelFile[], ModelFile[]] = [[], []];
  for (const file of files) ((await has(file)) ? present : absent).push(file);
  return [...present, ...absent];
}
