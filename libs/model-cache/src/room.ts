import type { Logger, Metrics } from '@millrace/platform';
import type { CacheFolder, PartialModel, StoredModel } from './cache-folder';
import { isNoRoom } from './files';
import type { HeldLock, HostLocks } from './host-locks';

/** What a cache holds, and what it may. */
export interface RoomFacts {
  models: readonly StoredModel[];
  partials: readonly PartialModel[];
  budgetBytes: number;
  /** What the disk still takes, that of which pieces are to come included. */
  freeBytes: number;
  /** What is to be stored beside. */
  neededBytes: number;
  /** Digests that somebody fetches at this moment, or has fetched and is about to link. */
  fetching: ReadonlySet<string>;
}

/** The lock under which room is counted, made and taken. */
const ROOM = 'room';

/** What to remove so that there is room; `fits` is false where all of it is not enough. */
export interface RoomPlan {
  evicted: StoredModel[];
  dropped: PartialModel[];
  fits: boolean;
  /** Something is in use that could be removed later. */
  mayWait: boolean;
}

/**
 * What has to go for `neededBytes` to fit into the budget and onto the disk: first the pieces of models that nobody fetches, then
 * models, the least recently used first. What an engine has and what is being fetched stays. Of a model in pieces the disk has what has come:
 * the rest of it has its room already.
 */
export function planRoom(facts: RoomFacts): RoomPlan {
  const { budgetBytes, fetching, models, neededBytes, partials } = facts;
  const usedBytes = [...models, ...partials].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const toComeBytes = partials.reduce((sum, partial) => sum + Math.max(0, partial.sizeBytes - partial.storedBytes), 0);
  const diskBytes = facts.freeBytes - toComeBytes;
  let missing = Math.max(usedBytes + neededBytes - budgetBytes, neededBytes - diskBytes, 0);
  const plan: RoomPlan = { evicted: [], dropped: [], fits: false, mayWait: false };
  const oldestFirst = <T extends { usedAtMs: number }>(list: T[]): T[] => list.sort((a, b) => a.usedAtMs - b.usedAtMs);
  for (const partial of oldestFirst(partials.filter(({ digest }) => !fetching.has(digest)))) {
    if (missing <= 0) break;
    plan.dropped.push(partial);
    missing -= partial.sizeBytes;
  }
  for (const model of oldestFirst(models.filter((model) => !isInUse(model, fetching)))) {
    if (missing <= 0) break;
    plan.evicted.push(model);
    missing -= model.sizeBytes;
  }
  plan.fits = missing <= 0;
  plan.mayWait =
    models.some((model) => isInUse(model, fetching)) || partials.some(({ digest }) => fetching.has(digest));
  return plan;
}

function isInUse({ digest, isLinked }: StoredModel, fetching: ReadonlySet<string>): boolean {
  return isLinked || fetching.has(digest);
}

/** `later`: what is in use takes the room for now. `never`: nothing is left that could be removed. */
export type RoomAnswer = 'made' | 'later' | 'never';

/** What makes room in a cache works with. */
export interface RoomParts {
  budgetBytes: number;
  metrics: Pick<Metrics, 'modelEvictions'>;
  logger: Pick<Logger, 'info'>;
}

/** Makes room in a cache. */
export class CacheSpace {
  /** @param sweepEngines has the engines of processes that have ended keep nothing */
  constructor(
    private readonly folder: CacheFolder,
    private readonly locks: HostLocks,
    private readonly parts: RoomParts,
    private readonly sweepEngines: () => Promise<void>,
  ) {}

  /**
   * The lock under which room is counted, made and taken.
   *
   * @throws the reason of the signal, and where the disk takes no more its error
   */
  lock(signal?: AbortSignal): Promise<HeldLock> {
    return this.locks.acquire(ROOM, signal);
  }

  /**
   * Make room for so many bytes more, and for what is to come of models in pieces. The caller holds the lock. A crash in between leaves less
   * in the cache.
   *
   * @param held digests whose locks the caller has: their pieces stay
   */
  async make(neededBytes: number, held: Iterable<string>): Promise<RoomAnswer> {
    const own = [...held];
    await this.sweepEngines();
    for (;;) {
      const plan = await this.plan(neededBytes, own);
      if (!plan.fits) return plan.mayWait ? 'later' : 'never';
      await this.drop(plan.dropped);
      // What an engine has got meanwhile stays: something else has to go.
      if (await this.evict(plan.evicted)) return 'made';
    }
  }

  private async plan(neededBytes: number, held: readonly string[]): Promise<RoomPlan> {
    // Before it is seen what is there: what is linked meanwhile was locked before. Nobody begins to fetch under the lock of the room.
    const before = [...(await this.folder.partials()), ...(await this.folder.models())];
    const fetching = await this.fetched(before);
    for (const digest of held) fetching.add(digest);
    // In this order: what comes or becomes whole meanwhile is counted twice rather than never.
    const partials = await this.folder.partials();
    const models = await this.folder.models();
    const freeBytes = await this.folder.freeBytes();
    const { budgetBytes } = this.parts;
    return planRoom({ models, partials, budgetBytes, freeBytes, neededBytes, fetching });
  }

  /** How many bytes the disk can have, once all that is not needed has made way: the budget at most. */
  async capacityBytes(): Promise<number> {
    const before = await this.folder.freeBytes();
    const heldBytes = await this.folder.heldBytes();
    // What comes or goes meanwhile is counted twice rather than never: too little would end a run that has only to wait.
    const freeBytes = Math.max(before, await this.folder.freeBytes());
    return Math.min(this.parts.budgetBytes, freeBytes + heldBytes);
  }

  /**
   * Have something make way on a disk that takes no more: the pieces that nobody fetches, or else the model that was used least recently. Where
   * not even a lock can be written it goes without: what somebody links in that moment stays.
   *
   * @param wanted digests that the caller needs: their models stay, and their pieces while there is anything else
   * @returns false where nothing is left that could
   */
  async relieve(wanted: ReadonlySet<string>, signal?: AbortSignal): Promise<boolean> {
    const lock = await this.lock(signal).catch((error: unknown) => {
      if (isNoRoom(error)) return null;
      throw error;
    });
    try {
      await this.sweepEngines();
      return await this.removeSome(wanted);
    } finally {
      await lock?.release();
    }
  }

  /** What `work` gives, which is begun again on a full disk for as long as something can make way. @throws what `work` rejects with. */
  async relieving<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work();
      } catch (error) {
        if (!isNoRoom(error) || !(await this.relieve(new Set()))) throw error;
      }
    }
  }

  /** Others may begin to fetch meanwhile: whether somebody does is asked of what was seen, whose lock was there before. */
  private async removeSome(wanted: ReadonlySet<string>): Promise<boolean> {
    const partials = await this.folder.partials();
    const fetched = await this.fetched(partials);
    const pieces = partials.filter(({ digest }) => !fetched.has(digest));
    const others = pieces.filter(({ digest }) => !wanted.has(digest));
    if (await this.drop(others)) return true;
    const models = await this.folder.models();
    const fetching = await this.fetched(models);
    const unused = models.filter((model) => !isInUse(model, fetching) && !wanted.has(model.digest));
    for (const model of unused.sort((a, b) => a.usedAtMs - b.usedAtMs)) if (await this.evict([model])) return true;
    return this.drop(pieces);
  }

  /** Which of these somebody fetches, or is about to link. */
  private async fetched(there: readonly { digest: string }[]): Promise<Set<string>> {
    const fetched = new Set<string>();
    for (const digest of new Set(there.map((one) => one.digest))) {
      if (await this.locks.isHeld(digest)) fetched.add(digest);
    }
    return fetched;
  }

  private async drop(pieces: readonly PartialModel[]): Promise<boolean> {
    for (const { path } of pieces) await this.folder.drop(path);
    return pieces.length > 0;
  }

  /** @returns false where an engine has one of them by now: that one stays. */
  private async evict(models: readonly StoredModel[]): Promise<boolean> {
    let count = 0;
    for (const { digest } of models) if (await this.folder.evict(digest)) count += 1;
    if (count > 0) {
      this.parts.metrics.modelEvictions.inc(count);
      this.parts.logger.info({ count }, 'models were evicted from the cache');
    }
    return count === models.length;
  }
}
