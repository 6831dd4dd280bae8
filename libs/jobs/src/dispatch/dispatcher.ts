import type { DispatchMessage } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { PoolStore, WorkerStore } from '@millrace/deployments';
import type { HintState, LaneProducer } from '@millrace/messaging';
import { LoadingCache, crashPoint, type Logger } from '@millrace/platform';
import type { JobSettings } from '../job.settings';
import type { DispatchedJob, Turn, TurnStore } from '../rotation';
import { LockedAccounts } from './locked-accounts';
import type { UnclaimedStore } from './unclaimed.store';
import { WatermarkCache } from './watermark-cache';

/** What a pool can take is looked up this often at most; workers come and go by the minute. */
const CAPACITY_TTL_MS = 500;
/** Pools whose capacity is kept. */
const CACHED_POOLS = 10_000;
/** An attempt unclaimed this long may have been lost with its lane. */
const UNCLAIMED_SECONDS = 3;
/** An attempt that stays unclaimed is put back once in this time: its workers may be unable to claim anything. */
const OFFERED_AGAIN_MS = 10_000;
/** A turn that another process takes for the pool lasts about so long. Each wait for it is twice the last: many wait at once. */
const TURN_MS = 5;
/** Turns of one statement: the accounts that have them are locked until it commits. */
const MOST_TURNS = 64;
/** Turns of other processes that are waited for; the dispatch loop runs within a second anyway. */
const TURNS_WAITED = 4;

/**
 * Fills the lanes from Postgres: to the capacity of the pool's live workers and a small look-ahead, and no further, so that
 * whose turn it is stays open until the last moment.
 */
export class Dispatcher {
  private readonly active = new Map<string, { again: boolean }>();
  private readonly filling = new Set<Promise<void>>();
  private readonly rooms: LoadingCache<number>;
  private readonly watermarks = new Map<string, WatermarkCache>();
  /** By pool, what was put back and is not claimed, and in which period. */
  private readonly offered = new Map<string, Set<string>>();
  private readonly lockedAccounts = new Map<string, LockedAccounts>();

  constructor(
    private readonly database: Statements,
    private readonly turns: Pick<TurnStore, 'take'>,
    private readonly unclaimed: Pick<UnclaimedStore, 'list'>,
    pools: Pick<PoolStore, 'find'>,
    workers: Pick<WorkerStore, 'capacity'>,
    private readonly lanes: Pick<LaneProducer, 'add' | 'addAll' | 'addAgain' | 'addLeft' | 'states'>,
    private readonly logger: Logger,
    private readonly settings: Pick<JobSettings, 'modelWaitSeconds'>,
  ) {
    this.rooms = new LoadingCache({
      max: CACHED_POOLS,
      ttlMs: CAPACITY_TTL_MS,
      load: async (poolId) => {
        const [pool, capacity] = await Promise.all([pools.find(database, poolId), workers.capacity(database, poolId)]);
        return pool === null || capacity === 0 ? 0 : capacity + pool.lookAhead;
      },
    });
  }

  /**
   * A dispatch will be requested soon: look up meanwhile how much the pool can take, which is the first thing that it waits for.
   * Never rejects, never waits.
   */
  expectDispatch(poolId: string): void {
    this.rooms.get(poolId).catch(() => undefined);
  }

  /** Fill a pool's lane soon. Never rejects, never waits; requests made meanwhile are one. */
  requestDispatch(poolId: string): void {
    const active = this.active.get(poolId);
    if (active !== undefined) {
      active.again = true;
      return;
    }
    const run = { again: false };
    this.active.set(poolId, run);
    const filling = this.runUntilQuiet(poolId, run).finally(() => {
      this.active.delete(poolId);
      this.filling.delete(filling);
    });
    this.filling.add(filling);
  }

  /** Resolves when what was requested is done: nothing is asked of the database any more. Nothing may be requested afterwards. */
  async close(): Promise<void> {
    await Promise.all(this.filling);
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
   * Fill a pool's lane now. Where another process is dispatching for the pool its turn is waited for: it may have counted
   * before the job that this call is about had committed.
   *
   * @returns how many attempts went to the lane.
   */
  async fill(poolId: string): Promise<number> {
    const room = await this.rooms.get(poolId);
    let count = 0;
    for (let waits = 0; room > 0 && waits <= TURNS_WAITED;) {
      const turns = await this.takeTurns(poolId, room);
      const jobs = turns.flatMap(({ job }) => job ?? []);
      if (jobs.length > 0) {
        crashPoint('dispatch:before-lane');
        await this.deliver(poolId, jobs);
        count += jobs.length;
      }
      const { job, inFlight, skipped } = turns.at(-1) ?? turns[0];
      if (inFlight === null) {
        waits += 1;
        await new Promise((resolve) => setTimeout(resolve, TURN_MS * 2 ** waits));
      } else if (job === null && skipped) waits += 1;
      else if (job === null || inFlight + 1 >= room) break;
    }
    return count;
  }

  /**
   * Put back what the lane has lost, and what a worker received and did not claim: it froze meanwhile, or left it to others
   * and its message to them was lost. Once its wait for a worker with its models is over, such a message names none: the worker
   * that receives it runs it, so nothing is left to others for longer. Each is put back once in a period: while PostgreSQL refuses writes, workers receive what they cannot
   * claim, and the lane loses it again at once.
   *
   * @returns how many attempts were put back.
   * @throws when the lane takes no message; the caller tries again later.
   */
  async redeliver(poolId: string): Promise<number> {
    const { modelWaitSeconds: placedSeconds } = this.settings;
    const unclaimed = await this.unclaimed.list(this.database, poolId, {
      olderThanSeconds: UNCLAIMED_SECONDS,
      placedSeconds,
    });
    const offeredBefore = this.offered.get(poolId);
    this.offered.delete(poolId);
    if (unclaimed.length === 0) return 0;
    const states = await this.lanes.states(poolId, unclaimed);
    const period = `t${Math.floor(Date.now() / OFFERED_AGAIN_MS)}`;
    const offered = new Set<string>();
    this.offered.set(poolId, offered);
    let count = 0;
    for (const [index, job] of unclaimed.entries()) {
      const offer = `${job.jobId}.${job.attempt}.${period}`;
      if (offeredBefore?.has(offer) === true) offered.add(offer);
      else if (states[index] !== 'waiting') {
        await this.offerAgain(poolId, job, states[index], period);
        offered.add(offer);
        count += 1;
      }
    }
    return count;
  }

  /** Beside a message that is held, an offer needs a name of its own: the one that is left to others, and where that is held as well, another. */
  private offerAgain(poolId: string, job: DispatchedJob, state: HintState | undefined, period: string): Promise<void> {
    if (state === 'taken') return this.lanes.addLeft(poolId, job);
    return state === 'held' ? this.lanes.addAgain(poolId, job, period) : this.lanes.add(poolId, job);
  }

  /** Offer an attempt again that a worker has passed over for another. Never rejects: what is lost here is redelivered. */
  async passOn(poolId: string, message: DispatchMessage): Promise<void> {
    const passed = (message.passed ?? 0) + 1;
    await this.send(message, this.lanes.addAgain(poolId, { ...message, passed }, `p${passed}`));
  }

  /** Offer an attempt again that a worker without its models has left to another: once, however many have. Never rejects either. */
  async leave(poolId: string, message: DispatchMessage): Promise<void> {
    await this.send(message, this.lanes.addLeft(poolId, message));
  }

  private async takeTurns(poolId: string, room: number): Promise<[Turn, ...Turn[]]> {
    const cache = this.watermarks.get(poolId) ?? new WatermarkCache();
    this.watermarks.set(poolId, cache);
    const now = performance.now();
    const watermarks = cache.get(now);
    const locked = this.lockedAccounts.get(poolId) ?? new LockedAccounts();
    this.lockedAccounts.set(poolId, locked);
    const turns = await locked.turns((waitMs) => {
      // What is waited for with the locks of other turns held would be waited for by their accounts, too.
      const most = waitMs === 0 ? MOST_TURNS : 1;
      return this.turns.take(this.database, poolId, room, { most, watermarks, waitMs });
    });
    const [{ found }] = turns;
    if (watermarks === null && found !== null) cache.set(found, now);
    return turns;
  }

  /** Never rejects: what the lane does not take is redelivered. */
  private async deliver(poolId: string, jobs: DispatchedJob[]): Promise<void> {
    try {
      await this.lanes.addAll(poolId, jobs);
    } catch (error) {
      const ids = jobs.map(({ jobId }) => jobId);
      this.logger.warn({ err: error, jobs: ids }, 'the lane did not take attempts; they are put back later');
    }
  }

  private async send(job: DispatchMessage, sending: Promise<void>): Promise<void> {
    try {
      await sending;
    } catch (error) {
      this.logger.warn({ err: error, job: job.jobId }, 'the lane did not take an attempt; it is put back later');
    }
  }
}
