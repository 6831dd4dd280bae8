import type { CacheFolder } from './cache-folder';
import { DiskFull, HashMismatch, ModelFetch, fetchedBytes, forgetPieces } from './fetch-model';
import type { HeldLock } from './host-locks';
import { ModelUnavailable } from './model-unavailable';
import type { CacheSpace } from './room';
import type { StageRequest, StagingParts } from './stage-request';
import type { Wanted, WantedModels } from './wanted-models';

/** A model that a staging fetches: nobody else does while it has the lock. */
export interface Claim {
  wanted: Wanted;
  lock: HeldLock;
  /** Of its pieces. */
  folder: string;
}

/** Fetches models that a staging has claimed: begins again once where the hash differs, and has others make room on a full disk. */
export class VerifiedFetch {
  constructor(
    private readonly cache: CacheFolder,
    private readonly room: CacheSpace,
    private readonly parts: Pick<StagingParts, 'fetch' | 'isGone' | 'logger' | 'metrics' | 'source'>,
    private readonly models: WantedModels,
    private readonly request: Pick<StageRequest, 'accountId' | 'signal'>,
  ) {}

  /**
   * Resolves when all of a model is in the folder of its pieces, verified and on the disk.
   *
   * @throws {DiskFull} where nothing can make room: its pieces make way then, so that others find some
   * @throws {ModelUnavailable} or the reason of the signal
   */
  async run(claim: Claim, signal: AbortSignal): Promise<void> {
    for (let mismatches = 0; ;) {
      try {
        return await this.fetch(claim, signal);
      } catch (error) {
        if (error instanceof DiskFull && (await this.room.relieve(this.models.digests, this.request.signal))) continue;
        if (error instanceof DiskFull) await this.cache.drop(claim.folder);
        if (!(error instanceof HashMismatch)) throw error;
        mismatches += 1;
        await this.forget(claim, mismatches, error);
      }
    }
  }

  /** @throws ModelUnavailable where the hash differs again. */
  private async forget({ folder, wanted }: Claim, mismatches: number, cause: HashMismatch): Promise<void> {
    const { digest, folder: kind, name } = wanted.file;
    this.parts.logger.warn({ digest }, 'the bytes of a model do not have its hash');
    await forgetPieces(folder);
    if (mismatches === 1) return;
    await this.cache.drop(folder);
    const message = `The model ${kind}/${name} could not be used: its bytes are not those that the library names, also when read again. Upload it again.`;
    throw new ModelUnavailable('mismatch', message, name, { cause });
  }

  private async fetch({ folder, wanted }: Claim, signal: AbortSignal): Promise<void> {
    const { fetch, isGone, metrics, source } = this.parts;
    const { digest, sizeBytes } = wanted.file;
    wanted.stagedBytes = await fetchedBytes(folder, sizeBytes, fetch.pieceBytes);
    const { accountId } = this.request;
    const origin = {
      open: (range: { start: number; end: number }, stop: AbortSignal) =>
        source.open({ digest, accountId }, range, stop),
      isGone,
    };
    const onBytes = (bytes: number): void => {
      metrics.modelBytesFetched.inc(bytes);
      wanted.stagedBytes = Math.min(sizeBytes, wanted.stagedBytes + bytes);
      this.models.report();
    };
    await new ModelFetch(wanted.file, folder, origin, fetch, signal, onBytes).run();
  }
}
