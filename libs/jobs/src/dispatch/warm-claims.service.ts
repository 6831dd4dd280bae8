import type { DispatchMessage } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import { LoadingCache } from '@millrace/platform';
import type { JobSettings } from '../job.settings';
import type { Claimed } from '../lifecycle';
import type { ClaimedAttempt } from '../state';
import type { Claims } from './claims.service';
import type { Dispatcher } from './dispatcher';
import type { SetAsideStore } from './set-aside.store';
import type { WarmClaimStore } from './warm-claim.store';

/** A worker that receives messages from a pool's lane. */
export interface ClaimingWorker {
  id: string;
  poolId: string;
  /** Files of weights that it holds in memory. */
  warm: readonly string[];
  /** Files of weights that are on its disk, beside those in memory. */
  disk?: readonly string[];
  /**
   * Models of the message that it would have to fetch. Absent: those that it holds neither in memory nor on its disk. What its engine
   * brought itself is not among them.
   */
  lacking?: readonly string[];
  /** The claim, where its answer may be lost on the way: it is the token of the lease. Absent: nobody asks again. */
  claimId?: string | undefined;
  /** Aborts when nobody waits for the answer any more: nothing is taken then. */
  gone?: AbortSignal;
}

/** When an attempt is offered again that waits for a certain worker, in milliseconds: each offer costs a statement or two. */
const BUSY_REST_MS = 250;
/** Whether jobs of a pool are set aside is looked up this often at most. */
const SET_ASIDE_TTL_MS = 500;
/** Pools of which that is known. */
const CACHED_POOLS = 10_000;

/** What a worker's claim came to. */
export interface ClaimResult {
  /** What the worker is to run now. */
  claimed: ClaimedAttempt | null;
  /** The message of an attempt that is left to another worker: to be offered again once this worker is done with it. */
  left: DispatchMessage | null;
}

/** What the statements of a claim came to, before what follows their commit. */
interface Taken {
  claimed: Claimed | null;
  left: DispatchMessage | null;
  /** It was answered before. */
  isRepeated?: boolean;
  /** The worker runs another attempt than that of its message. */
  passesOn?: boolean;
  /** An attempt was set aside. */
  hasSetAside?: boolean;
}

const NOTHING: Taken = { claimed: null, left: null };

/**
 * Claims attempts with regard to the models that a worker holds: loading them may take longer than the run. Whose turn it is,
 * dispatching has decided; among what it has put into a lane, a worker prefers what it can run without loading anything, and
 * leaves an attempt to an idle worker that holds its models. Memory counts first: only where the worker would have to fetch the
 * models of an attempt, what is on a disk counts too, and the attempt is left to a busy worker as well, for `modelWaitSeconds` from
 * its dispatch on at most. A claim stays the one guarded statement.
 *
 * What a worker has no room for is set aside, in nobody's way; one that has room runs such jobs before what it receives.
 */
export class WarmClaims {
  private readonly setAside: LoadingCache<boolean>;

  /** @param now milliseconds on a clock that only goes forward. */
  constructor(
    private readonly database: Pick<Database, 'transaction'> & Statements,
    private readonly store: Pick<WarmClaimStore, 'choose'>,
    private readonly aside: Pick<SetAsideStore, 'isAny' | 'next' | 'put'>,
    private readonly claims: Claims,
    private readonly dispatcher: Pick<Dispatcher, 'passOn' | 'requestDispatch'>,
    private readonly settings: Pick<JobSettings, 'modelWaitSeconds'>,
    now = () => performance.now(),
  ) {
    const load = (poolId: string): Promise<boolean> => aside.isAny(database, poolId);
    this.setAside = new LoadingCache({ max: CACHED_POOLS, ttlMs: SET_ASIDE_TTL_MS, load, now });
  }

  /**
   * Claim the attempt of a message, or one that suits the worker better. One statement where no models are named
   * or all of them are held, or models are not to matter, and nothing of the pool is set aside.
   */
  async take(message: DispatchMessage, worker: ClaimingWorker): Promise<ClaimResult> {
    // Looked up before: nothing may ask for another connection while a transaction has one.
    const isAnyAside = await this.setAside.get(worker.poolId);
    const pick = (statements: Statements): Promise<Taken> => this.pick(statements, message, worker, isAnyAside);
    const { claimId } = worker;
    const taken = claimId === undefined ? await pick(this.database) : await this.once(worker, claimId, pick);
    // The worker keeps its message until its engine is free again: others need one of their own now.
    if (taken.passesOn === true) void this.dispatcher.passOn(worker.poolId, message);
    if (taken.hasSetAside === true) {
      this.setAside.delete(worker.poolId);
      this.dispatcher.requestDispatch(worker.poolId);
    }
    const { claimed, left, isRepeated } = taken;
    if (claimed === null) return { claimed, left };
    return { claimed: await (isRepeated === true ? this.claims.resume(claimed) : this.claims.begin(claimed)), left };
  }

  /**
   * A claim that may be asked for again, by any process: its requests follow each other, in whichever order they come, and all of them are
   * answered with what one of them has taken. A request that nobody waits for takes nothing.
   */
  private once(
    { id: workerId, poolId, gone }: ClaimingWorker,
    claimId: string,
    pick: (tx: Statements) => Promise<Taken>,
  ): Promise<Taken> {
    return this.database.transaction(async (tx) => {
      const claimed = await this.claims.repeat(tx, { workerId, poolId, claimId });
      if (claimed !== null) return { claimed, left: null, isRepeated: true };
      return gone?.aborted === true ? NOTHING : pick(tx);
    });
  }

  private async pick(
    statements: Statements,
    message: DispatchMessage,
    worker: ClaimingWorker,
    isAnyAside: boolean,
  ): Promise<Taken> {
    const { id: workerId, poolId, claimId } = worker;
    const { passed = 0 } = message;
    const aside = isAnyAside ? await this.aside.next(statements, { workerId, poolId, passed }) : null;
    if (aside !== null) {
      const claimed = await this.claims.claim(statements, aside, { workerId, poolId, claimId }, { isSetAside: true });
      if (claimed !== null) return { claimed, left: null, passesOn: aside.jobId !== message.jobId };
    }
    return this.pickFromLane(statements, message, worker);
  }

  private async pickFromLane(statements: Statements, message: DispatchMessage, worker: ClaimingWorker): Promise<Taken> {
    const { modelWaitSeconds: waitSeconds } = this.settings;
    if (waitSeconds === 0 || isWarm(message, worker.warm)) return this.claimOrSetAside(statements, message, worker);
    const { disk = [], id: workerId, poolId, warm } = worker;
    const { models = [] } = message;
    const lacking = worker.lacking ?? models.filter((name) => !warm.includes(name) && !disk.includes(name));
    const offer = { poolId, workerId, warm, disk, lacking, waitSeconds, message };
    const { instead, holder } = await this.store.choose(statements, offer);
    const better = instead === null ? NOTHING : await this.claimOrSetAside(statements, instead, worker);
    const { claimed, hasSetAside = false } = better;
    if (claimed !== null) return { claimed, left: null, passesOn: true };
    if (holder === 'idle') return { claimed, left: message, hasSetAside };
    if (holder === 'busy') return { claimed, left: resting(message), hasSetAside };
    const taken = await this.claimOrSetAside(statements, message, worker);
    return hasSetAside ? { ...taken, hasSetAside } : taken;
  }

  /** An attempt that the worker has no room for is set aside, and its message left to others only while one that has room is idle. */
  private async claimOrSetAside(
    statements: Statements,
    message: DispatchMessage,
    { id: workerId, poolId, claimId }: ClaimingWorker,
  ): Promise<Taken> {
    const claimant = { workerId, poolId, claimId };
    const claimed = await this.claims.claim(statements, message, claimant);
    if (claimed !== null) return { claimed, left: null };
    const refusal = await this.aside.put(statements, message, claimant);
    if (refusal === null) return NOTHING;
    const { isSetAside, isNew, isAwaited } = refusal;
    if (isSetAside) return { claimed, left: isAwaited ? resting(message) : null, hasSetAside: isNew };
    // Who had room for it has gone between the two statements.
    const late = await this.claims.claim(statements, message, claimant);
    return { claimed: late, left: late === null ? resting(message) : null };
  }
}

function resting(message: DispatchMessage): DispatchMessage {
  return { ...message, restMs: BUSY_REST_MS };
}

/** Whether a worker that holds `warm` can run a job without loading models. */
export function isWarm({ models }: Pick<DispatchMessage, 'models'>, warm: readonly string[]): boolean {
  return (models ?? []).every((name) => warm.includes(name));
}
