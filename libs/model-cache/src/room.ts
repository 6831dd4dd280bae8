import type { Logger, Metrics } from '@millrace/platform';
import type { CacheFolder, PartialModel, StoredModel } from './cache-folder';
import type { HostLocks } from './host-locks';

/** What a cache holds, and what it may. */
export interface RoomFacts {
  models: readonly StoredModel[];
  partials: readonly PartialModel[];
  budgetBytes: number;
  /** What the disk still takes. */
  freeBytes: number;
  /** What is to be stored beside. */
  neededBytes: number;
  /** Digests that somebody fetches at this moment, or has fetched and is about to link. */
  fetching: ReadonlySet<string>;
}

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
 * models, the least recently used first. What an engine has and what is being fetched stays.
 */
export function planRoom(facts: RoomFacts): RoomPlan {
  const { budgetBytes, fetching, models, neededBytes, partials } = facts;
  const usedBytes = [...models, ...partials].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  let missing = Math.max(usedBytes + neededBytes - budgetBytes, neededBytes - facts.freeBytes, 0);
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

/** Makes room in a cache. Its callers hold the lock under which room is counted and taken. */
export class Room {
  constructor(
    private readonly folder: CacheFolder,
    private readonly locks: HostLocks,
    private readonly parts: {
      budgetBytes: number;
      metrics: Pick<Metrics, 'modelEvictions'>;
      logger: Pick<Logger, 'info'>;
    },
  ) {}

  /**
   * Make room for so many bytes more. A crash in between leaves less in the cache.
   *
   * @param held digests whose locks the caller has: their pieces stay
   */
  async make(neededBytes: number, held: Iterable<string>): Promise<RoomAnswer> {
    const fetching = await this.fetching();
    for (const digest of held) fetching.add(digest);
    // In this order: what becomes whole meanwhile is counted twice rather than never.
    const partials = await this.folder.partials();
    const plan = planRoom({
      models: await this.folder.models(),
      partials,
      budgetBytes: this.parts.budgetBytes,
      freeBytes: await this.folder.freeBytes(),
      neededBytes,
      fetching,
    });
    if (!plan.fits) return plan.mayWait ? 'later' : 'never';
    for (const { path } of plan.dropped) await this.folder.drop(path);
    await this.evict(plan.evicted);
    return 'made';
  }

  /** How many bytes the disk can have, once all that is not needed has made way: the budget at most. */
  async capacityBytes(): Promise<number> {
    const [freeBytes, heldBytes] = await Promise.all([this.folder.freeBytes(), this.folder.heldBytes()]);
    return Math.min(this.parts.budgetBytes, freeBytes + heldBytes);
  }

  /** Evict the model that was used least recently: the disk takes less than it seemed to. @returns false where there is none. */
  async evictOne(): Promise<boolean> {
    const fetching = await this.fetching();
    const unused = (await this.folder.models()).filter((model) => !isInUse(model, fetching));
    const oldest = unused.sort((a, b) => a.usedAtMs - b.usedAtMs).slice(0, 1);
    await this.evict(oldest);
    return oldest.length > 0;
  }

  /**
   * Digests of models, whole or in pieces, that somebody fetches, or is about to link. Asked before it is seen which are linked: what is linked
   * meanwhile was locked before. Nobody begins to fetch while the caller has the lock of the room.
   */
  private async fetching(): Promise<Set<string>> {
    const there = [...(await this.folder.partials()), ...(await this.folder.models())].map(({ digest }) => digest);
    const fetching = new Set<string>();
    for (const digest of new Set(there)) if (await this.locks.isHeld(digest)) fetching.add(digest);
    return fetching;
  }

  private async evict(models: readonly StoredModel[]): Promise<void> {
    if (models.length === 0) return;
    for (const { digest } of models) await this.folder.evict(digest);
    this.parts.metrics.modelEvictions.inc(models.length);
    this.parts.logger.info({ count: models.length }, 'models were evicted from the cache');
  }
}
