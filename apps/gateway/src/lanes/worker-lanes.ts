import type { DispatchMessage } from '@millrace/contracts';
import type { Metrics } from '@millrace/platform';
import { WorkerLane, type OpenConsumer } from './worker-lane';

/** A worker that has not asked for so long has its place at the lane closed, in milliseconds. */
const IDLE_MS = 60_000;
const SWEEP_EVERY_MS = 5_000;

/** Opens the consumer of a pool's lane. */
export type OpenLane = (poolId: string, ...parts: Parameters<OpenConsumer>) => ReturnType<OpenConsumer>;

/** The workers outside the cluster that ask this gateway for work, each with its place at its pool's lane. */
export class WorkerLanes {
  private readonly lanes = new Map<string, { poolId: string; lane: WorkerLane }>();
  private readonly timer = setInterval(() => void this.sweep(), SWEEP_EVERY_MS).unref();
  private closed = false;

  constructor(
    private readonly open: OpenLane,
    private readonly metrics: Pick<Metrics, 'remoteWorkers'>,
    private readonly idleMs = IDLE_MS,
  ) {}

  /** Wait for a message for a worker. @returns null when there was none in time. */
  async next(poolId: string, workerId: string, gone: AbortSignal): Promise<DispatchMessage | null> {
    if (this.closed) return null;
    let place = this.lanes.get(workerId);
    if (place === undefined) {
      place = { poolId, lane: new WorkerLane((take) => this.open(poolId, take)) };
      this.lanes.set(workerId, place);
      this.count();
    }
    return place.lane.next(gone);
  }

  /** A worker has claimed a message, or leaves it to others: `left` is then what is offered to them. */
  done(workerId: string, message: DispatchMessage, left: DispatchMessage | null): void {
    this.lanes.get(workerId)?.lane.done(message, left);
  }

  /** Close the places of workers that ask no more. */
  async sweep(): Promise<void> {
    const idle = [...this.lanes].filter(([, { lane }]) => lane.idleMs > this.idleMs);
    for (const [workerId] of idle) this.lanes.delete(workerId);
    if (idle.length > 0) this.count();
    await Promise.all(idle.map(([, { lane }]) => lane.close()));
  }

  private count(): void {
    const pools = new Map<string, number>();
    for (const { poolId } of this.lanes.values()) pools.set(poolId, (pools.get(poolId) ?? 0) + 1);
    this.metrics.remoteWorkers.reset();
    for (const [pool, workers] of pools) this.metrics.remoteWorkers.set({ pool }, workers);
  }

  /** Answer everyone who waits, and take nothing more. */
  async close(): Promise<void> {
    this.closed = true;
    clearInterval(this.timer);
    await Promise.all([...this.lanes.values()].map(({ lane }) => lane.close()));
    this.lanes.clear();
  }
}
