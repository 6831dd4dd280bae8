import { Refusal, type DispatchMessage } from '@millrace/contracts';
import type { WorkerTokenHolder } from '@millrace/deployments';
import type { Metrics } from '@millrace/platform';
import { WorkerLane, type OpenConsumer } from './worker-lane';

/** A worker that has not asked for so long has its place at the lane closed, in milliseconds. */
const IDLE_MS = 60_000;
const SWEEP_EVERY_MS = 5_000;
const RETRY_SECONDS = 2;
/** After this a message is offered again that a worker left, where it does not say when, in milliseconds: as the consumer of a lane does. */
const LEFT_AFTER_MS = 25;

/** Opens the consumer of a pool's lane. */
export type OpenLane = (poolId: string, ...parts: Parameters<OpenConsumer>) => ReturnType<OpenConsumer>;

/** Where messages come from, and where they go. */
interface LaneAccess {
  open: OpenLane;
  /** Offer an attempt of a pool to others. Never rejects. */
  leave: (poolId: string, message: DispatchMessage) => Promise<void>;
  /** Whether an attempt of a pool waits to be claimed. */
  isOffered: (poolId: string, message: DispatchMessage) => Promise<boolean>;
}

/** The place of one worker. */
interface Place extends WorkerTokenHolder {
  lane: WorkerLane;
}

/**
 * The workers outside the cluster that ask this gateway for work, each with its place at its pool's lane. Each place has a connection to
 * Redis of its own, so that the workers of a token have no more of them than it may have workers, those that are closing included.
 */
export class WorkerLanes {
  private readonly lanes = new Map<string, Place>();
  /** Places that are closing, each with its token. */
  private readonly closing = new Map<Promise<void>, string>();
  /** Messages of other gateways that were left here, and are not offered again yet. */
  private readonly leaving = new Set<Promise<void>>();
  private readonly timer = setInterval(() => void this.sweep(), SWEEP_EVERY_MS).unref();
  private closed = false;

  /** @param lanesPerToken places of the workers of one token at most. */
  constructor(
    private readonly access: LaneAccess,
    private readonly metrics: Pick<Metrics, 'remoteWorkers'>,
    private readonly lanesPerToken: number,
    private readonly idleMs = IDLE_MS,
  ) {}

  /**
   * Wait for a message for a worker.
   *
   * @returns null when there was none in time.
   * @throws Refusal `rate_limited` where its token has no place left, and all of them are in use.
   */
  async next(holder: WorkerTokenHolder, workerId: string, gone: AbortSignal): Promise<DispatchMessage | null> {
    while (!this.closed && !gone.aborted) {
      const lane = this.lanes.get(workerId)?.lane ?? this.openFor(holder, workerId);
      if (lane !== null) return lane.next(gone);
      await this.makeRoom(holder.tokenId);
    }
    return null;
  }

  /** @returns null where the token has as many places as it may. */
  private openFor({ tokenId, poolId }: WorkerTokenHolder, workerId: string): WorkerLane | null {
    const closing = [...this.closing.values()].filter((of) => of === tokenId);
    if (this.placesOf(tokenId).length + closing.length >= this.lanesPerToken) return null;
    const { isOffered, open } = this.access;
    const lane = new WorkerLane(
      (take) => open(poolId, take),
      (message) => isOffered(poolId, message),
    );
    this.lanes.set(workerId, { tokenId, poolId, lane });
    this.count();
    return lane;
  }

  /** Resolves when a place of a token has closed: that of the worker which has not asked for the longest time. */
  private async makeRoom(tokenId: string): Promise<void> {
    const [closing] = [...this.closing].find(([, of]) => of === tokenId) ?? [];
    if (closing !== undefined) return closing;
    const idle = this.placesOf(tokenId).filter(([, { lane }]) => lane.idleMs > 0);
    const [longest] = idle.sort(([, one], [, other]) => other.lane.idleMs - one.lane.idleMs);
    if (longest !== undefined) return this.retire(longest);
    const message = `${this.lanesPerToken} workers of this token wait for work here, which is the limit; ask again later.`;
    throw new Refusal('rate_limited', message, { retryAfterSeconds: RETRY_SECONDS });
  }

  private placesOf(tokenId: string): [workerId: string, place: Place][] {
    return [...this.lanes].filter(([, place]) => place.tokenId === tokenId);
  }

  /** Close a place. Its worker gets another when it asks again. */
  private async retire([workerId, { lane, tokenId }]: [string, Place]): Promise<void> {
    this.lanes.delete(workerId);
    this.count();
    const over = lane.close().finally(() => this.closing.delete(over));
    this.closing.set(over, tokenId);
    await over;
  }

  /**
   * A worker has claimed a message, or leaves it to others: `left` is then what is offered to them. The gateway that gave it to the worker may be another, which
   * learns nothing of that and keeps its message for a while: what is left is offered from here then.
   */
  done({ poolId }: WorkerTokenHolder, workerId: string, message: DispatchMessage, left: DispatchMessage | null): void {
    const isHeld = this.lanes.get(workerId)?.lane.done(message, left) ?? false;
    if (isHeld || left === null) return;
    const leaving = this.leave(poolId, left).finally(() => this.leaving.delete(leaving));
    this.leaving.add(leaving);
  }

  /** Only what waits in the pool of the token: a worker may name any attempt. Never rejects; what is lost here is redelivered. */
  private async leave(poolId: string, { restMs = LEFT_AFTER_MS, ...message }: DispatchMessage): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, restMs));
    const isOffered = await this.access.isOffered(poolId, message).catch(() => false);
    if (isOffered) await this.access.leave(poolId, message);
  }

  /** Close the places of workers that ask no more. */
  async sweep(): Promise<void> {
    const idle = [...this.lanes].filter(([, { lane }]) => lane.idleMs > this.idleMs);
    await Promise.all(idle.map((place) => this.retire(place)));
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
    await Promise.all([...this.closing.keys(), ...[...this.lanes.values()].map(({ lane }) => lane.close())]);
    await Promise.all(this.leaving);
    this.lanes.clear();
  }
}
