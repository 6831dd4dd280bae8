import type { ModelFile, ModelSource } from '@millrace/contracts';
import type { Logger, Metrics } from '@millrace/platform';
import type { CacheFolder } from './cache-folder';
import type { EngineLinks } from './engine-links';
import { DiskFull, HashMismatch, ModelFetch, fetchedBytes, forgetPieces, type FetchSettings } from './fetch-model';
import { isNoRoom, unlessMissing } from './files';
import type { HeldLock, HostLocks } from './host-locks';
import { ModelUnavailable } from './model-unavailable';
import { Room } from './room';
import { pause } from './wait';
import { WantedModels, sizeText, sum, type StagingProgress, type Wanted } from './wanted-models';

/** What is to be staged for one run. */
export interface StageRequest {
  accountId: string;
  files: readonly ModelFile[];
  /** Where the engine of the run finds them. */
  links: EngineLinks;
  signal: AbortSignal;
  /** Called as bytes come in, also those that another fetches; `stagedBytes` never decreases. Not throttled. */
  onProgress?: (progress: StagingProgress) => void;
}

export interface StagingParts {
  budgetBytes: number;
  source: Pick<ModelSource, 'open'>;
  isGone: (error: unknown) => boolean;
  metrics: Pick<Metrics, 'modelBytesFetched' | 'modelEvictions'> & {
    modelLookups: Pick<Metrics['modelLookups'], 'inc'>;
  };
  logger: Pick<Logger, 'info' | 'warn'>;
  fetch: FetchSettings;
  waits: { lookMs: number; roomMs: number };
}

/** A model that this staging fetches: nobody else does while it has the lock. */
interface Claim {
  wanted: Wanted;
  lock: HeldLock;
  folder: string;
}

/** The lock under which room is counted, made and taken. */
const ROOM = 'room';

/**
 * Stages the models of one run. What is there is linked at once, which keeps it. Room is taken for all at once that it has to fetch;
 * one that waits for room keeps nothing meanwhile, so that two never wait for each other. It fetches what nobody else
 * fetches, and then waits for what others do.
 */
export class Staging {
  private readonly models: WantedModels;
  private readonly room: Room;
  private waitsForRoomSinceMs: number | null = null;
  private isFirstLook = true;

  constructor(
    private readonly folder: CacheFolder,
    private readonly locks: HostLocks,
    private readonly parts: StagingParts,
    private readonly sweepEngines: () => Promise<void>,
    private readonly request: StageRequest,
  ) {
    this.room = new Room(folder, locks, parts);
    this.models = new WantedModels(request.files, request.onProgress);
  }

  /** @throws {ModelUnavailable} or the reason of the signal */
  async run(): Promise<void> {
    try {
      await this.stageAll();
    } catch (error) {
      throw isNoRoom(error) ? await this.diskFull() : error;
    }
  }

  private async stageAll(): Promise<void> {
    this.request.signal.throwIfAborted();
    await this.begin();
    this.refuseTooLarge();
    while (this.models.pending.size > 0) {
      const claims = await this.claim();
      try {
        for (const claim of claims) await this.fetch(claim);
      } finally {
        await Promise.all(claims.map(({ lock }) => lock.release()));
      }
      if (claims.length === 0 && this.models.pending.size > 0) await this.look();
    }
    this.models.report();
  }

  /** Nothing is linked, and nothing kept. */
  private async begin(): Promise<void> {
    await this.request.links.clear();
    this.models.reset();
  }

  private refuseTooLarge(): void {
    const { budgetBytes } = this.parts;
    const { names, totalBytes } = this.models;
    if (totalBytes <= budgetBytes) return;
    throw new ModelUnavailable(
      'too_large',
      `The models of this workflow (${names}) have ${sizeText(totalBytes)} together, and the worker keeps at most ${sizeText(budgetBytes)}.`,
      null,
      { neededBytes: totalBytes },
    );
  }

  /**
   * Link what is there, and take the locks of, and the room for, what nobody fetches.
   *
   * @returns nothing where all that is missing is fetched by others, or there is no room for it yet.
   */
  private async claim(): Promise<Claim[]> {
    const { signal } = this.request;
    const room = await this.locks.acquire(ROOM, signal);
    const locks = new Map<string, HeldLock>();
    try {
      await this.linkPresent();
      for (const digest of this.models.pending.keys()) {
        const lock = await this.locks.tryAcquire(digest);
        if (lock !== null) locks.set(digest, lock);
      }
      const claims = await this.takeRoom(locks);
      if (claims !== null) this.waitsForRoomSinceMs = null;
      if (claims !== null) return claims;
      await this.releaseAll(locks);
      // One that waits for room keeps none: two of them would wait for each other.
      await this.begin();
      return [];
    } catch (error) {
      await this.releaseAll(locks);
      throw error;
    } finally {
      await room.release();
    }
  }

  private async releaseAll(locks: ReadonlyMap<string, HeldLock>): Promise<void> {
    await Promise.all([...locks.values()].map((lock) => lock.release()));
  }

  private async linkPresent(): Promise<void> {
    const { modelLookups } = this.parts.metrics;
    for (const wanted of [...this.models.pending.values()]) {
      const isThere = await this.folder.has(wanted.file);
      if (isThere && (await this.link(wanted, this.folder.model(wanted.file.digest)))) {
        if (this.isFirstLook) modelLookups.inc({ outcome: 'hit' });
      } else if (this.isFirstLook) modelLookups.inc({ outcome: 'miss' });
    }
    this.isFirstLook = false;
  }

  /** @returns false where the file is not there any more. */
  private async link(wanted: Wanted, path: string): Promise<boolean> {
    const { file, targets } = wanted;
    for (const target of targets) {
      if ((await unlessMissing(this.request.links.add(path, target))) === null) return false;
    }
    await this.folder.touch(file.digest);
    for (const target of targets) await this.folder.note(target);
    this.models.linked(wanted);
    return true;
  }

  /** @returns null where there is no room yet. */
  private async takeRoom(locks: ReadonlyMap<string, HeldLock>): Promise<Claim[] | null> {
    const mine = [...locks].flatMap(([digest, lock]) => {
      const wanted = this.models.pending.get(digest);
      return wanted ? [{ wanted, lock }] : [];
    });
    const folders = new Map<string, string>();
    for (const { wanted } of mine) {
      const adopted = await this.folder.adopt(wanted.file);
      if (adopted !== null) folders.set(wanted.file.digest, adopted);
    }
    const missing = mine.map(({ wanted }) => wanted.file).filter(({ digest }) => !folders.has(digest));
    if (missing.length > 0 && !(await this.clearRoom(sum(missing.map(({ sizeBytes }) => sizeBytes)), locks))) {
      return null;
    }
    for (const file of missing) folders.set(file.digest, await this.folder.reserve(file));
    return mine.map(({ wanted, lock }) => ({ wanted, lock, folder: folders.get(wanted.file.digest) ?? '' }));
  }

  /** @returns false where others hold what there is for now. @throws ModelUnavailable where nobody does. */
  private async clearRoom(neededBytes: number, locks: ReadonlyMap<string, HeldLock>): Promise<boolean> {
    await this.sweepEngines();
    const answer = await this.room.make(neededBytes, locks.keys());
    if (answer === 'made') return true;
    this.waitsForRoomSinceMs ??= performance.now();
    const waitedMs = performance.now() - this.waitsForRoomSinceMs;
    const fault = await this.diskFull();
    if (answer === 'later' && fault.isPassing && waitedMs < this.parts.waits.roomMs) return false;
    throw fault;
  }

  /** What others use will make way: it passes where there would be room without that. */
  private async diskFull(): Promise<ModelUnavailable> {
    const { missing, totalBytes: neededBytes } = this.models;
    const isPassing = neededBytes <= (await this.room.capacityBytes());
    const now = isPassing ? ' at the moment' : '';
    return new ModelUnavailable(
      'disk_full',
      `The disk of the worker has no room${now} for the models that the workflow names (${missing}).`,
      null,
      { neededBytes, isPassing },
    );
  }

  /** A claim whose lock was lost is left to the process that took it over: the next look decides. */
  private async fetch(claim: Claim): Promise<void> {
    const { lock } = claim;
    const signal = AbortSignal.any([this.request.signal, lock.lost]);
    try {
      await this.fetchVerified(claim, signal);
    } catch (error) {
      if (lock.lost.aborted && !this.request.signal.aborted) return;
      throw error;
    }
    await this.finish(claim);
    await lock.release();
  }

  /**
   * A model before it is linked: what a process that is killed leaves in the folder of an engine is then a link to a model, and known as one.
   * The lock keeps it from being evicted between the two.
   */
  private async finish({ folder, wanted }: Claim): Promise<void> {
    const { digest } = wanted.file;
    if (await this.folder.complete(folder, digest)) await this.link(wanted, this.folder.model(digest));
  }

  private async fetchVerified(claim: Claim, signal: AbortSignal): Promise<void> {
    const { folder, wanted } = claim;
    const { folder: kind, name } = wanted.file;
    for (let mismatches = 0; ;) {
      try {
        return await this.fetchOnce(claim, signal);
      } catch (error) {
        if (error instanceof DiskFull && (await this.evictOne())) continue;
        if (error instanceof DiskFull) throw await this.diskFull();
        if (!(error instanceof HashMismatch)) throw error;
        this.parts.logger.warn({ digest: wanted.file.digest }, 'the bytes of a model do not have its hash');
        await forgetPieces(folder);
        mismatches += 1;
        if (mismatches === 1) continue;
        await this.folder.drop(folder);
        const message = `The model ${kind}/${name} could not be used: its bytes are not those that the library names, also when read again. Upload it again.`;
        throw new ModelUnavailable('mismatch', message, name, { cause: error });
      }
    }
  }

  private async fetchOnce({ folder, wanted }: Claim, signal: AbortSignal): Promise<void> {
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

  private async evictOne(): Promise<boolean> {
    const lock = await this.locks.acquire(ROOM, this.request.signal);
    return this.room.evictOne().finally(() => lock.release());
  }

  /** Others fetch what is missing, or hold the room: see how far they are, in a while. */
  private async look(): Promise<void> {
    await pause(this.parts.waits.lookMs, this.request.signal);
    const partials = await this.folder.partials();
    for (const wanted of this.models.pending.values()) {
      const { digest, sizeBytes } = wanted.file;
      const partial = partials.find((one) => one.digest === digest);
      if (!partial) continue;
      const bytes = await fetchedBytes(partial.path, sizeBytes, this.parts.fetch.pieceBytes);
      wanted.stagedBytes = Math.max(wanted.stagedBytes, bytes);
    }
    this.models.report();
  }
}
