import type { Engine, EngineHealth, EngineResult, EngineRunContext, EngineWork } from '@millrace/engines';
import type { Logger } from '@millrace/platform';
import { Warmth, type WarmUpTimes } from './warmth';

/** How long a slot waits beyond the engine's own bounds, in milliseconds. */
export interface SlotBounds {
  /** For an interrupt to be answered; an engine that keeps a bound of its own has a shorter one. */
  interruptGraceMs: number;
  /** For the replacement to be there. */
  resetMs: number;
  /** For the engine to report its health: less than the silence after which a worker counts as gone (15 s). */
  healthMs: number;
}

const DEFAULT_BOUNDS: Readonly<SlotBounds> = { interruptGraceMs: 20_000, resetMs: 60_000, healthMs: 5_000 };

/** Why a wait ends, which nobody reads: an abort without a reason makes an error with a stack, for each run and each heartbeat. */
const SETTLED = 'settled';
const STUCK = 'The engine does not end a run that was to stop.';
const SILENT = 'The engine does not report its health.';

/** One engine and the promise that a run on it ends, even when the engine does not keep its own. */
export class EngineSlot {
  /** Runs that the engine has not settled. */
  private unsettled = 0;
  /** Attempts that have this engine, or wait for it. */
  private entered = 0;
  private sick = false;
  /** It has a run that it did not end when asked, and could not be replaced. */
  private isStuck = false;
  /** Settles when no attempt is left that has this engine, or is shown models on it. */
  private vacant: Promise<void> = Promise.resolve();
  /** The attempt that left this engine last, and what it waited for: both settle when an attempt has stored what it made. */
  private left: { over: Promise<void>; before: Promise<void> };
  private readonly warmth: Warmth;
  private lastHealth: EngineHealth = { ready: false, problem: SILENT, version: 'unknown', residentModels: [] };

  constructor(
    readonly engine: Engine,
    private readonly logger: Logger,
    private readonly bounds: SlotBounds = DEFAULT_BOUNDS,
    warmUp: (() => Promise<WarmUpTimes>) | null = null,
    /** Why it may be given no run though it is ready, and nothing runs on it; null: it may. Never rejects. */
    private readonly fault: () => Promise<string | null> = () => Promise.resolve(null),
  ) {
    this.warmth = new Warmth(warmUp, logger);
    this.left = { over: this.vacant, before: this.vacant };
  }

  /** Do what the engine is to do before its first run. @throws when that fails. */
  warmUp(): Promise<WarmUpTimes> {
    return this.warmth.warmUp();
  }

  /** The models that its engine held when it last reported its health. */
  get warm(): readonly string[] {
    return this.lastHealth.residentModels;
  }

  /**
   * Whether it can be given no run: it has lost the last one, or was idle and not ready, and has not reported to be ready
   * since, or has not been warmed up since. A run on such an engine would only cost the job one of its attempts. It may become so while
   * an attempt that has it is not yet run.
   */
  get isSick(): boolean {
    return this.sick;
  }

  /**
   * How the engine is, within a bound. One that runs something may be too busy to answer: a model that loads holds every
   * answer up. Its last answer counts then.
   */
  async health(): Promise<EngineHealth> {
    const health = await this.askHealth();
    if (this.unsettled > 0) return health;
    if (!health.ready) this.warmth.lose();
    const fault = health.ready && this.entered === 0 && this.warmth.isSettled ? await this.faultAlone() : null;
    this.sick = !health.ready || fault !== null || !this.isRestored();
    const problem = fault ?? this.warmth.problem;
    return health.ready && problem !== null ? { ...health, ready: false, problem } : health;
  }

  /** A warm-up exchanges the models that the engine is shown: none begins while an attempt has the engine, which leaves a sick one. */
  private isRestored(): boolean {
    return this.entered > 0 ? this.warmth.isWarm : this.warmth.restore();
  }

  /** No attempt has the engine meanwhile. */
  private async faultAlone(): Promise<string | null> {
    const answered = new AbortController();
    const leave = await this.enter(answered.signal);
    const fault = this.fault().finally(leave);
    const late = elapsed(this.bounds.healthMs, answered.signal).then(() => SILENT);
    return Promise.race([fault, late]).finally(() => answered.abort(SETTLED));
  }

  /** After an attempt that broke off for no reason of its job's: it is given no run until its health has been asked for. */
  distrust(): void {
    this.sick = true;
  }

  private async askHealth(): Promise<EngineHealth> {
    const answered = new AbortController();
    const late = elapsed(this.bounds.healthMs, answered.signal).then(() => null);
    const health = await Promise.race([this.engine.health(), late]);
    answered.abort(SETTLED);
    if (health !== null) this.lastHealth = health;
    if (this.isStuck) return { ...this.lastHealth, ready: false, problem: STUCK };
    if (health === null && this.unsettled === 0) return { ...this.lastHealth, ready: false, problem: SILENT };
    return this.lastHealth;
  }

  /**
   * Have the engine once the attempt before has it no more, which may have left it to this one while it settles. Resolves, too, when
   * the signal aborts: the engine may not be used then.
   *
   * @returns what an attempt calls when neither a run nor a model of its own is on the engine any more.
   */
  async enter(signal: AbortSignal): Promise<() => void> {
    const before = this.vacant;
    const entered = new AbortController();
    let leave = (): void => undefined;
    const gone = new Promise<void>((resolve) => (leave = resolve)).then(() => void (this.entered -= 1));
    this.entered += 1;
    this.vacant = before.then(() => gone);
    await Promise.race([before, aborted(signal, entered.signal)]);
    entered.abort(SETTLED);
    return leave;
  }

  /** Never rejects. */
  async run(work: EngineWork, context: EngineRunContext): Promise<EngineResult> {
    const over = new AbortController();
    this.unsettled += 1;
    const settled = this.engine
      .run(work, context)
      .catch((error: unknown): EngineResult => ({ status: 'lost', reason: String(error) }))
      .finally(() => {
        this.unsettled -= 1;
        this.isStuck = false;
      });
    const result = await Promise.race([settled, this.whenIgnored(work.runId, context.signal, over.signal)]);
    over.abort(SETTLED);
    if (result.status === 'lost') this.warmth.lose();
    this.sick =
      result.status === 'lost' || result.status === 'disk_failed' || this.unsettled > 0 || !this.warmth.isWarm;
    this.isStuck = this.unsettled > 0;
    return result;
  }

  /**
   * Leave the engine, which has settled or is about to, to the next attempt, while this one goes on storing what it made. One at a time
   * does so: resolves when those before have ended, so that what waits to be stored is bounded, on disk and in memory.
   *
   * @param over settles when the attempt has ended; never rejects. The same attempt may leave again, which changes nothing.
   */
  async leave(over: Promise<void>): Promise<void> {
    if (this.left.over !== over) this.left = { over, before: this.left.over };
    await this.left.before;
  }

  /** Resolves when a run has ignored an interrupt and its engine was replaced, or could not be. */
  private async whenIgnored(runId: string, signal: AbortSignal, over: AbortSignal): Promise<EngineResult> {
    await aborted(signal, over);
    await elapsed(this.bounds.interruptGraceMs, over);
    if (!over.aborted) {
      this.logger.error({ run: runId }, 'the engine ignored an interrupt and is replaced');
      this.warmth.lose();
      const late = elapsed(this.bounds.resetMs, over).then(() => {
        throw new Error(STUCK);
      });
      await Promise.race([this.engine.reset(), late]).catch((error: unknown) =>
        this.logger.error({ err: error }, 'the engine could not be replaced'),
      );
    }
    return { status: 'interrupted' };
  }
}

/** Resolves when the signal aborts; never, once `over` has: a signal keeps its listeners as long as what it follows. */
function aborted(signal: AbortSignal, over?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true, ...(over && { signal: over }) });
  });
}

/** Resolves after `ms`, or at once when the signal aborts. */
function elapsed(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void aborted(signal).then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
