import type { Statements } from '@millrace/database';
import type { PoolPace, WorkerStore } from '@millrace/deployments';
import { LoadingCache } from '@millrace/platform';
import type { AccountQueueStore } from './account-queue.store';
import { RotationSnapshot } from './rotation-snapshot';

/** How old a snapshot may be. Places in a queue are estimates, and every submission asks. */
const SNAPSHOT_TTL_MS = 500;
const REFRESH_AFTER_MS = 350;
/** Pools whose snapshots are kept. */
const CACHED_POOLS = 10_000;

/** Where a queued job stands; both are estimates. */
export interface QueuePlace {
  /** 1 for the next to start. */
  position: number;
  /** Until its start, in milliseconds; null where there is nothing to estimate from. */
  waitMs: number | null;
}

/** Estimates from a snapshot of a pool: how full it is, and where in its rotation a job stands. */
export class QueueEstimates {
  private readonly rotations: LoadingCache<RotationSnapshot>;
  private readonly paces: LoadingCache<PoolPace>;

  constructor(database: Statements, store: AccountQueueStore, workers: Pick<WorkerStore, 'pace'>) {
    const cached = { max: CACHED_POOLS, ttlMs: SNAPSHOT_TTL_MS, refreshAfterMs: REFRESH_AFTER_MS };
    this.rotations = new LoadingCache({
      ...cached,
      load: async (poolId) => new RotationSnapshot(await store.listBusy(database, poolId)),
    });
    this.paces = new LoadingCache({ ...cached, load: (poolId) => workers.pace(database, poolId) });
  }

  /** Jobs waiting in the pool. */
  async waiting(poolId: string): Promise<number> {
    // A submission asks for its place once it is recorded: both are read before.
    const [rotation] = await Promise.all([this.rotations.get(poolId), this.paces.get(poolId)]);
    return rotation.waiting;
  }

  /** Jobs of the account that wait in the pool. */
  async waitingOf(poolId: string, accountId: string): Promise<number> {
    return (await this.rotations.get(poolId)).waitingOf(accountId);
  }

  /** @param ahead jobs of its own account before it. */
  async place(poolId: string, accountId: string, ahead: number): Promise<QueuePlace> {
    const [rotation, pace] = await Promise.all([this.rotations.get(poolId), this.paces.get(poolId)]);
    const position = rotation.positionOf(accountId, ahead);
    return { position, waitMs: waitMsAt(position, pace) };
  }

  /** The place of a job that is in the pool's lane already. */
  async placeInLane(poolId: string): Promise<QueuePlace> {
    return { position: 1, waitMs: waitMsAt(0, await this.paces.get(poolId)) };
  }
}

/**
 * How long a waiting job will wait: as many attempts as must end before it starts, at the pace at which the pool's workers
 * end them. Null when no worker is there, or none has run anything yet.
 */
export function waitMsAt(position: number, { capacity, inFlight, attemptMs }: PoolPace): number | null {
  const endsBefore = Math.max(0, position + inFlight - capacity);
  if (capacity === 0) return null;
  if (endsBefore === 0) return 0;
  return attemptMs === null ? null : Math.round((endsBefore * attemptMs) / capacity);
}
