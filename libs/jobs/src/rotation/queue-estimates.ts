import type { Statements } from '@millrace/database';
import type { PoolPace, WorkerStore } from '@millrace/deployments';
import { LoadingCache } from '@millrace/platform';
import type { AccountQueueStore } from './account-queue.store';
import { LaneSnapshot } from './lane-snapshot';
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

/** What of a pool has not begun, at one moment. */
interface PoolQueue {
  /** What has had its turn. */
  lane: LaneSnapshot;
  /** What waits for its turn. */
  rotation: RotationSnapshot;
}

/**
 * Estimates from a snapshot of a pool: how full it is, and where in its lane or its rotation a job stands. No place costs a statement
 * of its own.
 */
export class QueueEstimates {
  private readonly queues: LoadingCache<PoolQueue>;
  private readonly paces: LoadingCache<PoolPace>;

  /** @param now milliseconds on a clock that only goes forward. */
  constructor(
    database: Statements,
    store: Pick<AccountQueueStore, 'listBusy' | 'listUnclaimed'>,
    workers: Pick<WorkerStore, 'pace'>,
    now = () => performance.now(),
  ) {
    const cached = { max: CACHED_POOLS, ttlMs: SNAPSHOT_TTL_MS, refreshAfterMs: REFRESH_AFTER_MS, now };
    this.queues = new LoadingCache({
      ...cached,
      load: async (poolId) => {
        const [unclaimed, busy] = await Promise.all([
          store.listUnclaimed(database, poolId),
          store.listBusy(database, poolId),
        ]);
        return { lane: new LaneSnapshot(unclaimed), rotation: new RotationSnapshot(busy) };
      },
    });
    this.paces = new LoadingCache({ ...cached, load: (poolId) => workers.pace(database, poolId) });
  }

  /** Jobs waiting in the pool. */
  async waiting(poolId: string): Promise<number> {
    // A submission asks for its place once it is recorded: both are read before.
    const [{ rotation }] = await Promise.all([this.queues.get(poolId), this.paces.get(poolId)]);
    return rotation.waiting;
  }

  /** Jobs of the account that wait in the pool. */
  async waitingOf(poolId: string, accountId: string): Promise<number> {
    return (await this.queues.get(poolId)).rotation.waitingOf(accountId);
  }

  /** The place of a job that waits for its turn. @param ahead jobs of its own account that wait before it. */
  async place(poolId: string, accountId: string, ahead: number): Promise<QueuePlace> {
    const [{ lane, rotation }, pace] = await Promise.all([this.queues.get(poolId), this.paces.get(poolId)]);
    const turn = rotation.positionOf(accountId, ahead);
    return { position: lane.length + turn, waitMs: waitMsAt(turn, pace) };
  }

  /** The place of a job that has had its turn, and that no worker has claimed. */
  async placeInLane(poolId: string, jobId: string): Promise<QueuePlace> {
    const [{ lane }, pace] = await Promise.all([this.queues.get(poolId), this.paces.get(poolId)]);
    const position = lane.placeOf(jobId);
    return { position, waitMs: waitMsAt(position - lane.inLane, pace) };
  }
}

/**
 * How long a queued job will wait: as many attempts as must end before it starts, at the pace at which the pool's workers
 * end them. Null when no worker is there, or none has run anything yet.
 *
 * @param position 1 for the first that waits for its turn; of what is in flight already, 0 for the last to start, and less before it.
 */
export function waitMsAt(position: number, { capacity, inFlight, attemptMs }: PoolPace): number | null {
  const endsBefore = Math.max(0, position + inFlight - capacity);
  if (capacity === 0) return null;
  if (endsBefore === 0) return 0;
  return attemptMs === null ? null : Math.round((endsBefore * attemptMs) / capacity);
}
