import { createdAtOf, type DispatchMessage, type NodeCatalogue } from '@millrace/contracts';
import { BOOT_TIMEOUT_MS, isTransient, retryWhileStarting } from '@millrace/database';
import type { OwnStart, WorkerState } from '@millrace/deployments';
import type { Engine } from '@millrace/engines';
import { isWarm, type ClaimResult, type ClaimedAttempt, type WarmClaims } from '@millrace/jobs';
import { inSpan, recordSpan, underTrace, type Logger } from '@millrace/platform';
import { Attempt, modelsLeft, type AttemptParts } from './attempt';
import { asBootError } from './boot-error';
import { DiskModels } from './disk-models';
import { EngineSlots, PublishedCatalogue, type EngineSlot, type Release } from './engines';
import { HEARTBEAT_EVERY_MS, PoolMembership, type MembershipParts } from './pool-membership';
import { namedModelsOf, startTimes, type KeptModels, type NamedModels } from './prefetch';
import { warmUpOf } from './warm-up';
import type { WorkFolder } from './work-files';

/** How often it is looked whether what is sick is well again: an engine, or the folder for files. */
const RECHECK_EVERY_MS = 500;

export interface WorkerParts extends MembershipParts {
  claims: Pick<WarmClaims, 'take'>;
  engines: Engine[];
  attempt: Omit<AttemptParts, 'catalogue' | 'workFolder' | 'jobs' | 'assets'>;
  /** Where an attempt is recorded, and where its bytes lie; `ended` is called once nothing of it is asked for any more. */
  recordsOf: (claimed: ClaimedAttempt) => Pick<AttemptParts, 'jobs' | 'assets'> & { ended?: () => void };
  /** The models on this machine's disk, without those that an engine brought itself; null, and without this: none. */
  disk?: KeptModels | null;
  workFolder: WorkFolder;
  logger: Logger;
  drainMs: number;
  /** How long the graph may run with which the pool's deployment warms workers up. */
  warmUpLimitMs: number;
  /** How long a start may wait for the models that the pool's deployment names. */
  prefetchLimitMs: number;
  /** Called when the worker can run another number of attempts at once; with 0 it must take nothing from the lane. */
  onCapacity: (capacity: number) => void;
}

/**
 * One member of a pool: registers, publishes what it can run, runs the attempts that it takes, each on an engine of its own,
 * and drains before it stops. It takes no more than its engines can run: with all of them sick, no disk to work on, or PostgreSQL
 * out of reach, it leaves the lane until that is over.
 */
export class PoolWorker {
  private readonly slots: EngineSlots;
  private readonly membership: PoolMembership;
  private readonly catalogue: PublishedCatalogue;
  /** Everything that was taken and has not ended, stored and recorded. */
  private readonly underWay = new Set<Promise<void>>();
  /** An attempt that cleans up may be here beside the next of the same job. */
  private readonly running = new Set<{ jobId: string; attempt: Attempt }>();
  private readonly leaving = new AbortController();
  private state: WorkerState = 'starting';
  /** An operator wants it to take nothing more, until that is undone. */
  private drained = false;
  /** What the lane was last asked to give. */
  private capacity = 0;
  private rechecking = false;
  private readonly disk: DiskModels;
  private readonly named: NamedModels;
  /** What the start took, once it is over. */
  private ownStart: OwnStart | null = null;
  private timers: NodeJS.Timeout[] = [];

  constructor(private readonly parts: WorkerParts) {
    const { engines, identity, logger, registry } = parts;
    const publish = (catalogue: NodeCatalogue): Promise<string> =>
      registry.publish(identity.poolId, kindOf(engines), catalogue);
    const warmUp = warmUpOf(parts, () => this.catalogue.current);
    this.disk = new DiskModels(parts.disk ?? null, logger);
    this.slots = new EngineSlots(engines, logger, (engine) => warmUp.run(engine), modelsLeft(parts.attempt));
    this.membership = new PoolMembership(parts);
    const showsLibrary = engines.every((engine) => (parts.attempt.models?.(engine) ?? null) !== null);
    this.catalogue = new PublishedCatalogue(engines, publish, logger, showsLibrary);
    this.named = namedModelsOf(parts, showsLibrary);
  }

  /**
   * Register, bring the engines up and the models that the deployment names, publish what can be run, warm up, and report to be ready.
   *
   * @throws BootError with a sentence when the warm-up fails; what the engines and the pool throw.
   */
  async start(): Promise<void> {
    const { engines, prefetchLimitMs } = this.parts;
    await this.membership.register(kindOf(engines), engines.length);
    this.timers.push(setInterval(() => void this.report(), HEARTBEAT_EVERY_MS));
    const named = this.named.begin(prefetchLimitMs);
    await Promise.all(engines.map((engine) => engine.start()));
    await retryWhileStarting(BOOT_TIMEOUT_MS, () => this.catalogue.refresh());
    this.ownStart = await startTimes(named, () => asBootError(this.slots.warmUp()));
    this.state = 'ready';
    await this.report();
    this.timers.push(setInterval(() => void this.recheck(), RECHECK_EVERY_MS));
  }

  /** Report how this worker is, and learn whether to drain. Never rejects. */
  private async report(): Promise<void> {
    try {
      const healths = await this.slots.healths();
      this.offer();
      const { ableCapacity: capacity } = this;
      const { problem } = this.parts.workFolder;
      const { attemptMs } = this.slots;
      void this.named.look();
      const disk = { ...(await this.disk.report()), modelsNote: this.named.note };
      const fitness = { healths, ...disk, problem, capacity, attemptMs, start: this.ownStart };
      const mustDrain = await this.membership.report(this.state, fitness);
      this.drained = mustDrain;
      // PostgreSQL may have been out of reach until now.
      this.offer();
      // After the heartbeat: reading the catalogue can take its time.
      if (this.state === 'ready' && healths.every(({ ready }) => ready)) await this.catalogue.refresh();
    } catch (error) {
      this.parts.logger.warn({ err: error }, 'the worker could not report');
    }
  }

  /** Look whether what is sick is well again. Never rejects. */
  private async recheck(): Promise<void> {
    this.parts.workFolder.recheck();
    await this.recheckEngines();
    if (this.offer()) await this.report();
  }

  private async recheckEngines(): Promise<void> {
    if (this.rechecking || !this.slots.haveSick) return;
    this.rechecking = true;
    await this.slots.healths().catch((error: unknown) => {
      this.parts.logger.warn({ err: error }, 'an engine could not be asked for its health');
    });
    this.rechecking = false;
  }

  /** Attempts that this worker could run at once. */
  private get ableCapacity(): number {
    return this.parts.workFolder.problem === null ? this.slots.capacity : 0;
  }

  /** Take from the lane what this worker can run now. @returns whether that has changed. */
  private offer(): boolean {
    const takes = this.state === 'ready' && !this.drained && this.membership.isInReach;
    const capacity = takes ? this.ableCapacity : 0;
    if (capacity === this.capacity) return false;
    this.capacity = capacity;
    this.parts.logger.info({ capacity }, 'the worker takes another number of attempts at once');
    this.parts.attempt.metrics.workerCapacity.set(capacity);
    this.parts.onCapacity(capacity);
    return true;
  }

  /** True while it takes attempts: it is up, does not drain, and can run them. */
  get isReady(): boolean {
    return this.capacity > 0;
  }

  /**
   * Take an attempt from the lane and run it. Resolves when its engine can be given another: what the attempt made may
   * still be stored then, and its end be recorded. Never rejects.
   *
   * @returns the message where the attempt is left to another worker, or this one takes nothing now.
   */
  async take(message: DispatchMessage): Promise<DispatchMessage | null> {
    // Another attempt may have found out just now that this worker can run nothing.
    if (this.offer()) void this.report();
    if (!this.isReady) return message;
    const left = await this.slots.occupy(message, (slot, release) => {
      const over = this.traced(message, () => this.attempt(message, slot, release)).finally(() => {
        this.underWay.delete(over);
        release({ left: null, hasRun: false });
      });
      this.underWay.add(over);
    });
    // Before the lane can give another message to an engine that this one has left sick.
    if (this.offer()) void this.report();
    return left;
  }

  private traced({ jobId, attempt, traceparent }: DispatchMessage, work: () => Promise<void>): Promise<void> {
    const attributes = {
      'millrace.job': jobId,
      'millrace.attempt': attempt,
      'millrace.pool': this.parts.identity.poolId,
    };
    return underTrace(traceparent, () => {
      if (attempt === 1) recordSpan('queue', { startMs: createdAtOf(jobId), endMs: Date.now() }, { attributes });
      return inSpan('attempt', { role: 'consumer', attributes }, work);
    });
  }

  private async attempt(
    message: DispatchMessage,
    slot: EngineSlot,
    release: (release: Release) => void,
  ): Promise<void> {
    const { logger } = this.parts;
    try {
      const { claimed, left } = await this.claim(message, slot);
      if (claimed !== null) await this.run(claimed, slot, release);
      else release({ left, hasRun: false });
    } catch (error) {
      logger.error({ err: error, job: message.jobId }, 'an attempt could not be taken');
    }
  }

  /**
   * Claim the attempt of a message. One that PostgreSQL does not answer is left to the workers that reach it.
   *
   * @throws {Error} when the claim itself is at fault; its message is dropped, and put back later by maintenance.
   */
  private async claim(message: DispatchMessage, slot: EngineSlot): Promise<ClaimResult> {
    const { claims, identity, logger } = this.parts;
    try {
      const { warm } = slot;
      const disk = isWarm(message, warm) ? [] : await this.disk.names();
      const elsewhere = this.catalogue.libraryOnly(message.models ?? []);
      const lacking = elsewhere.filter((name) => !warm.includes(name) && !disk.includes(name));
      return await claims.take(message, { ...identity, warm, disk, lacking, gone: this.leaving.signal });
    } catch (error) {
      if (isTransient(error)) this.membership.claimFailed();
      if (this.membership.isInReach) throw error;
      logger.warn({ err: error, job: message.jobId }, 'an attempt could not be claimed and is left to other workers');
      return { claimed: null, left: message };
    }
  }

  private async run(claimed: ClaimedAttempt, slot: EngineSlot, release: (release: Release) => void): Promise<void> {
    const { recordsOf, workFolder } = this.parts;
    const { ended, ...records } = recordsOf(claimed);
    const parts = { ...this.parts.attempt, ...records, workFolder, catalogue: () => this.catalogue.current };
    const attempt = new Attempt(parts, claimed, slot, this.leaving.signal);
    const entry = { jobId: claimed.jobId, attempt };
    this.running.add(entry);
    const done = (): void => release({ left: null, hasRun: true });
    const over: Promise<void> = attempt.run({
      // Where it must be known what the run has left in memory, the next is not taken before.
      onComputed: () => void (isWarm(claimed, slot.warm) && slot.leave(over).finally(done)),
      onSettled: () => void this.vacate(claimed, slot, over).finally(done),
    });
    await over.finally(() => {
      this.running.delete(entry);
      ended?.();
    });
    done();
  }

  /** Resolves when an engine that has settled can be given another attempt than the one that ends with `over`. Never rejects. */
  private async vacate({ models }: ClaimedAttempt, slot: EngineSlot, over: Promise<void>): Promise<void> {
    // An engine that is left early may be sick after all.
    if (this.offer()) void this.report();
    const noted = models.length > 0 || slot.isSick ? this.noteHealth(slot) : Promise.resolve();
    // A run that loaded nothing has changed little: what the engine holds is read while the next one runs.
    const mustKnow = slot.isSick || !isWarm({ models }, slot.warm);
    await Promise.all([slot.leave(over), mustKnow ? noted : undefined]);
  }

  /**
   * Whether an engine that lost a run is well decides whether the worker takes more; what a run has left in memory, what it takes
   * next and what others leave to it. Never rejects.
   */
  private async noteHealth(slot: EngineSlot): Promise<void> {
    const before = slot.warm.join();
    try {
      await slot.health();
    } catch (error) {
      this.parts.logger.warn({ err: error }, 'an engine could not be asked for its health');
    }
    if (slot.warm.join() !== before || (await this.disk.haveChanged())) void this.report();
  }

  /** A job is to be canceled; resolves when its attempts here know. Never rejects. */
  async cancel(jobId: string): Promise<void> {
    const meant = [...this.running].filter((entry) => entry.jobId === jobId);
    await Promise.all(meant.map(({ attempt }) => attempt.checkForCancel()));
  }

  /** Take nothing more; let what runs end within the drain time, and give the rest back. Resolves when all of it is recorded. */
  async drain(): Promise<void> {
    this.state = 'draining';
    void this.named.stop();
    this.offer();
    await this.report();
    const timer = setTimeout(() => this.leaving.abort(), this.parts.drainMs);
    await Promise.all(this.underWay);
    clearTimeout(timer);
  }

  async stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    this.state = 'stopped';
    await this.named.stop();
    await this.report();
    await Promise.all(this.parts.engines.map((engine) => engine.close()));
  }
}

/** All engines of a worker are of one kind. */
function kindOf(engines: readonly Engine[]): Engine['kind'] {
  return engines[0]?.kind ?? 'cpu';
}
