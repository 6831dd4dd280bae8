import type { Statements } from '@millrace/database';
import type { PoolPace, WorkerStore } from '@millrace/deployments';
import type { DispatchStore } from './turn.store';
import { Rotation } from './rotation-snapshot';

/** How old a pool's picture may be. Places in a queue are estimates, and every submission asks. */
const BELIEVED_MS = 500;

/** Where a queued job stands; both are estimates. */
export interface QueuePlace {
  /** 1 for the next to start. */
  position: number;
  /** Until its start, in milliseconds; null where nobody can say. */
  waitMs: number | null;
}

/** A pool's queues as they stood a moment ago: how full the pool is, and where in the rotation a job stands. */
export class QueueOutlook {
  private readonly rotations = new Believed<Rotation>();
  private readonly paces = new Believed<PoolPace>();

  constructor(
    private readonly database: Statements,
    private readonly store: DispatchStore,
    private readonly workers: Pick<WorkerStore, 'pace'>,
  ) {}

  /** Jobs waiting in the pool. */
  async waiting(poolId: string): Promise<number> {
    // A submission asks for its place next, when it has written: all that is read is read before.
    const [rotation] = await Promise.all([this.rotation(poolId), this.pace(poolId)]);
    return rotation.waiting;
  }

  /**
   * An estimate of a waiting job's place in its pool.
   *
   * @param ahead jobs of its own account before it.
   * @returns position 1 for the next to start.
   */
  async place(poolId: string, accountId: string, ahead: number): Promise<QueuePlace> {
    const [rotation, pace] = await Promise.all([this.rotation(poolId), this.pace(poolId)]);
    const position = rotation.positionOf(accountId, ahead);
    return { position, waitMs: waitMsAt(position, pace) };
  }

  /** The place of a job that is in the pool's lane already. */
  async placeInLane(poolId: string): Promise<QueuePlace> {
    return { position: 1, waitMs: waitMsAt(0, await this.pace(poolId)) };
  }

  private rotation(poolId: string): Promise<Rotation> {
    return this.rotations.get(poolId, async () => new Rotation(await this.store.listBusy(this.database, poolId)));
  }

  private pace(poolId: string): Promise<PoolPace> {
    return this.paces.get(poolId, () => this.workers.pace(this.database, poolId));
  }
}

/** What was read of a pool a moment ago. */
class Believed<T> {
  private readonly known = new Map<string, { value: Promise<T>; until: number }>();

  get(poolId: string, read: () => Promise<T>): Promise<T> {
    const now = performance.now();
    const known = this.known.get(poolId);
    if (known !== undefined && known.until > now) return known.value;
    const value = read();
    this.known.set(poolId, { value, until: now + BELIEVED_MS });
    value.catch(() => this.known.delete(poolId));
    return value;
  }
}

/**
 * How long a waiting job will wait: as many attempts as must end before it starts, at the pace at which the pool's workers
 * end them. Null where nobody can say: no worker is there, or none has run anything yet.
 */
export function waitMsAt(position: number, { capacity, inFlight, attemptMs }: PoolPace): number | null {
  const endsBefore = Math.max(0, position + inFlight - capacity);
  if (capacity === 0) return null;
  if (endsBefore === 0) return 0;
  return attemptMs === null ? null : Math.round((endsBefore * attemptMs) / capacity);
}
