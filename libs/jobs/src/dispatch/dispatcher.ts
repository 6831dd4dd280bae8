import type { DispatchMessage } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { PoolStore, WorkerStore } from '@millrace/deployments';
import type { MessageState, LaneProducer } from '@millrace/messaging';
import { BoundedMap, LoadingCache, crashPoint, type Logger } from '@millrace/platform';
import type { JobSettings } from '../job.settings';
import type { DispatchedJob, Turn, TurnOffer, TurnStore } from '../rotation';
import { LockedAccounts } from './locked-accounts';
import { OthersTurn } from './others-turn';
import type { UnclaimedStore } from './unclaimed.store';
import { WatermarkCache } from './watermark-cache';

/** What a pool can take is looked up this often at most; workers come and go by the minute. */
const CAPACITY_TTL_MS = 500;
/** Pools of which something is kept. What is lost of one is read again, and an account that was skipped there may be so once more. */
const CACHED_POOLS = 10_000;
/** An attempt unclaimed this long may have been lost with its lane. */
const UNCLAIMED_SECONDS = 3;
/** An attempt that stays unclaimed is put back once in this time: its workers may be unable to claim anything. */
const OFFERED_AGAIN_MS = 10_000;
/** Turns of one statement: the accounts that have them are locked until it commits. */
const MOST_TURNS = 64;
/** Turns that a submission's statement gives: its own job's, as a rule, and one that finds nobody waiting. */
const TURNS_BESIDE = 2;
/** How often turns of other processes are waited for; the dispatch loop runs within a second anyway. */
const TURNS_WAITED = 4;

/** What a statement has recorded beside the turns that it gave. */
interface Recorded {
  turns: Turn[];
  /** Jobs of the account that waited in the pool before. */
  ahead: number;
}

/**
 * Fills the lanes from Postgres: to the capacity of the pool's live workers and a small look-ahead, and no further, so that
 * whose turn it is stays open until the last moment. Attempts that run on workers that drain or are gone do not count against the capacity of
 * the others.
 */
export class Dispatcher {
  private readonly active = new Map<string, { again: boolean }>();
  private readonly filling = new Set<Promise<void>>();
  private readonly othersTurn = new OthersTurn();
  /** Pools of which a statement under way gives turns beside its own work. */
  private readonly offered = new Set<string>();
  private readonly rooms: LoadingCache<number>;
  private readonly watermarks = new BoundedMap<WatermarkCache>(CACHED_POOLS);
  /** By pool, what was put back and is not claimed, and in which period. */
  private readonly putBack = new Map<string, Set<string>>();
  private readonly lockedAccounts = new BoundedMap<LockedAccounts>(CACHED_POOLS);

  /** @param now milliseconds on a clock that only goes forward. */
  constructor(
    private readonly database: Statements,
    private readonly turns: Pick<TurnStore, 'take'>,
    private readonly unclaimed: Pick<UnclaimedStore, 'list'>,
    pools: Pick<PoolStore, 'find'>,
    workers: Pick<WorkerStore, 'room'>,
    private readonly lanes: Pick<LaneProducer, 'add' | 'addAll' | 'addAgain' | 'addLeft' | 'states'>,
    private readonly logger: Logger,
    private readonly settings: Pick<JobSettings, 'modelWaitSeconds'>,
    private readonly now = () => performance.now(),
  ) {
    this.rooms = new LoadingCache({
      max: CACHED_POOLS,
      ttlMs: CAPACITY_TTL_MS,
      now,
      load: async (poolId) => {
        const since = this.watermarksOf(poolId).get(now())?.inFlightSince ?? null;
        const [pool, room] = await Promise.all([pools.find(database, poolId), workers.room(database, poolId, since)]);
        return pool === null || room === 0 ? 0 : room + pool.lookAhead;
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
    this.track(this.runUntilQuiet(poolId, run).finally(() => this.active.delete(poolId)));
  }

  /**
   * Run a statement after which a pool's lane is to be filled, and fill it soon. Where the pool has room and nothing is under way for it, the statement
   * gives the first turns itself: a lone job is on its way as soon as it is recorded, a round trip and a commit earlier.
   *
   * @param work is given what turns it may give, or null, and returns those that it gave, and how many jobs of the account waited before.
   * @returns what the work did, once that is done: nothing of dispatching is waited for.
   * @throws what the work does.
   */
  async dispatchWith<T extends Recorded>(poolId: string, work: (offer: TurnOffer | null) => Promise<T>): Promise<T> {
    const now = this.now();
    const offer = this.offerOf(poolId, now);
    if (offer === null) {
      const done = await work(null);
      this.requestDispatch(poolId);
      return done;
    }
    this.offered.add(poolId);
    try {
      const done = await work(offer);
      const found = done.turns[0]?.found ?? null;
      if (offer.watermarks === null && found !== null) this.watermarksOf(poolId).set(found, now, this.now());
      this.track(this.follow(poolId, offer, done));
      return done;
    } finally {
      this.offered.delete(poolId);
    }
  }

  /** Null where the pool has no room, as far as is known now, or its turns are being given. */
  private offerOf(poolId: string, now: number): TurnOffer | null {
    const room = this.rooms.peek(poolId) ?? 0;
    if (room === 0 || this.active.has(poolId) || this.offered.has(poolId)) return null;
    return { room, most: TURNS_BESIDE, watermarks: this.watermarksOf(poolId).get(now) };
  }

  /** Never rejects. */
  private async follow(poolId: string, { room }: TurnOffer, { turns, ahead }: Recorded): Promise<void> {
    const jobs = turns.flatMap(({ job }) => job ?? []);
    const last = turns.at(-1);
    // The row of an account that is new in the pool is followed by its turn when the statement has ended.
    const mayBeNew = ahead === 0 && jobs.length === 0 && last?.found !== null;
    if (mayBeNew || !leavesNobody(last, room)) this.requestDispatch(poolId);
    if (jobs.length === 0) return;
    crashPoint('dispatch:before-lane');
    await this.deliver(poolId, jobs);
  }

  private track(work: Promise<void>): void {
    const tracked = work.finally(() => this.filling.delete(tracked));
    this.filling.add(tracked);
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
    let isAnothers = false;
    for (let waits = 0; room > 0 && waits <= TURNS_WAITED;) {
      const take = (poolWaitMs: number): ReturnType<TurnStore['take']> => this.takeTurns(poolId, room, poolWaitMs);
      const turns: Turn[] = await (isAnothers ? this.othersTurn.follow(take) : take(0));
      const jobs = turns.flatMap(({ job }) => job ?? []);
      if (jobs.length > 0) {
        crashPoint('dispatch:before-lane');
        await this.deliver(poolId, jobs);
        count += jobs.length;
      }
      const last = turns.at(-1);
      if (leavesNobody(last, room)) break;
      isAnothers ||= last?.inFlight === null;
      if (last?.job === null) waits += 1;
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
    const offeredBefore = this.putBack.get(poolId);
    this.putBack.delete(poolId);
    if (unclaimed.length === 0) return 0;
    const states = await this.lanes.states(poolId, unclaimed);
    const period = `t${Math.floor(Date.now() / OFFERED_AGAIN_MS)}`;
    const offered = new Set<string>();
    this.putBack.set(poolId, offered);
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
  private offerAgain(
    poolId: string,
    job: DispatchedJob,
    state: MessageState | undefined,
    period: string,
  ): Promise<void> {
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

  private async takeTurns(poolId: string, room: number, poolWaitMs: number): Promise<[Turn, ...Turn[]]> {
    const now = this.now();
    const watermarks = this.watermarksOf(poolId).get(now);
    const locked = this.lockedAccounts.get(poolId) ?? new LockedAccounts();
    this.lockedAccounts.set(poolId, locked);
    const turns = await locked.turns((waitMs) => {
      // What is waited for with the locks of other turns held would be waited for by their accounts, too.
      const most = waitMs === 0 ? MOST_TURNS : 1;
      return this.turns.take(this.database, poolId, room, { most, watermarks, waitMs, poolWaitMs });
    });
    const [{ found }] = turns;
    if (watermarks === null && found !== null) this.watermarksOf(poolId).set(found, now, this.now());
    return turns;
  }

  private watermarksOf(poolId: string): WatermarkCache {
    const cache = this.watermarks.get(poolId) ?? new WatermarkCache();
    this.watermarks.set(poolId, cache);
    return cache;
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

/**
 * Whether nobody can have a turn after this one: the lane is full, or nobody waits. Not so where another process gave turns, or an account was
 * locked.
 */
function leavesNobody(last: Turn | undefined, room: number): boolean {
  if (last === undefined || last.inFlight === null) return false;
  return last.job === null ? !last.skipped : last.inFlight + 1 >= room;
}
