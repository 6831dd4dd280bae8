import { randomUUID } from 'node:crypto';
import type { Statements } from '@millrace/database';
import type { PoolStore, WorkerStore } from '@millrace/deployments';
import type { DispatchMessage } from '@millrace/contracts';
import type { LaneProducer } from '@millrace/messaging';
import { crashPoint, type Logger } from '@millrace/platform';
import { DispatchMemory } from './watermark-cache';
import type { Dispatch, DispatchedJob, DispatchStore } from '../rotation/turn.store';

/** What a pool can take is asked at most this often; workers come and go by the minute. */
const ROOM_BELIEVED_MS = 500;
/** An attempt unclaimed this long may have been lost with its lane. */
const UNCLAIMED_SECONDS = 3;
/** An attempt whose hint a worker sits on is offered to others once in this time. */
const OFFERED_AGAIN_MS = 10_000;
/** A statement of another process that dispatches for the pool takes about so long. */
const TURN_MS = 5;
/** Turns of others that are waited for; the dispatch loop comes by within a second anyway. */
const TURNS_WAITED = 4;

/**
 * Fills the lanes from Postgres: to the capacity of the pool's live workers and a small look-ahead, and no further, so that
 * whose turn it is stays a decision until the last moment.
 */
export class Dispatcher {
  private readonly active = new Map<string, { again: boolean }>();
  private readonly rooms = new Map<string, { room: number; until: number }>();
  private readonly memories = new Map<string, DispatchMemory>();

  constructor(
    private readonly database: Statements,
    private readonly store: DispatchStore,
    private readonly pools: PoolStore,
    private readonly workers: WorkerStore,
    private readonly lanes: Pick<LaneProducer, 'add' | 'addAgain' | 'states'>,
    private readonly logger: Logger,
  ) {}

  /** Fill a pool's lane soon. Never rejects, never waits; calls made meanwhile are one. */
  poke(poolId: string): void {
    const active = this.active.get(poolId);
    if (active !== undefined) {
      active.again = true;
      return;
    }
    const run = { again: false };
    this.active.set(poolId, run);
    void this.runUntilQuiet(poolId, run).finally(() => this.active.delete(poolId));
  }

  private async runUntilQuiet(poolId: string, run: { again: boolean }): Promise<void> {
    do {
      run.again = false;
      try {
        await this.fill(poolId);
      } catch (error) {
        this.logger.warn({ err: error, pool: poolId }, 'dispatching failed; it is tried again within a second');
        return;
      }
    } while (run.again);
  }

  /**
   * Fill a pool's lane now. Another process that is at it may have counted before what this one was told of had
   * committed, so its turn is waited for.
   *
   * @returns how many attempts went to it.
   */
  async fill(poolId: string): Promise<number> {
    const room = await this.room(poolId);
    let count = 0;
    for (let turns = 0; room > 0 && turns <= TURNS_WAITED;) {
      const { job, inFlight } = await this.dispatchNext(poolId, room);
      if (job !== null) {
        crashPoint('dispatch:before-lane');
        await this.deliver(poolId, job);
        count += 1;
      }
      if (inFlight === null) {
        turns += 1;
        await new Promise((resolve) => setTimeout(resolve, TURN_MS));
      } else if (job === null || inFlight + 1 >= room) break;
    }
    return count;
  }

  /**
   * Put back what the lane has lost, and what a worker took and has not taken up: it froze over it, or left it to others
   * who never heard of it. Such a hint names no models: whoever gets it runs it, so nothing is left to others for long.
   *
   * @returns how many attempts were put back.
   */
  async redeliver(poolId: string): Promise<number> {
    const unclaimed = await this.store.listUnclaimed(this.database, poolId, UNCLAIMED_SECONDS);
    if (unclaimed.length === 0) return 0;
    const states = await this.lanes.states(poolId, unclaimed);
    const lost = unclaimed.filter((_, index) => states[index] !== 'waiting');
    const period = Math.floor(Date.now() / OFFERED_AGAIN_MS);
    for (const job of lost) {
      const { models: _, ...hint } = job;
      if (states[unclaimed.indexOf(job)] === 'absent') await this.deliver(poolId, hint);
      else await this.told(hint, this.lanes.addAgain(poolId, hint, `t${period}`));
    }
    return lost.length;
  }

  /** Offer an attempt again that a worker has passed over for another. Never rejects: what is lost here is redelivered. */
  async passOn(poolId: string, hint: DispatchMessage): Promise<void> {
    const passed = (hint.passed ?? 0) + 1;
    await this.told(hint, this.lanes.addAgain(poolId, { ...hint, passed }, `p${passed}`));
  }

  /** Offer an attempt again that a worker without its models has left to another. Never rejects either. */
  async leave(poolId: string, hint: DispatchMessage): Promise<void> {
    await this.told(hint, this.lanes.addAgain(poolId, hint, `l${randomUUID()}`));
  }

  private async dispatchNext(poolId: string, room: number): Promise<Dispatch> {
    const memory = this.memories.get(poolId) ?? new DispatchMemory();
    this.memories.set(poolId, memory);
    const now = performance.now();
    const marks = memory.marks(now);
    const dispatch = await this.store.dispatchFrom(this.database, poolId, room, marks);
    if (marks === null && dispatch.found !== null) memory.keep(dispatch.found, now);
    return dispatch;
  }

  private async deliver(poolId: string, job: DispatchedJob): Promise<void> {
    await this.told(job, this.lanes.add(poolId, job));
  }

  private async told(job: DispatchMessage, telling: Promise<void>): Promise<void> {
    try {
      await telling;
    } catch (error) {
      this.logger.warn({ err: error, job: job.jobId }, 'the lane did not take an attempt; it is put back later');
    }
  }

  private async room(poolId: string): Promise<number> {
    const now = performance.now();
    const known = this.rooms.get(poolId);
    if (known !== undefined && known.until > now) return known.room;
    const [pool, capacity] = await Promise.all([
      this.pools.find(this.database, poolId),
      this.workers.capacity(this.database, poolId),
    ]);
    const room = pool === null || capacity === 0 ? 0 : capacity + pool.lookAhead;
    this.rooms.set(poolId, { room, until: now + ROOM_BELIEVED_MS });
    return room;
  }
}
