import { hostname } from 'node:os';
import { createdAtOf, type DispatchMessage, type NodeCatalogue } from '@millrace/contracts';
import { BOOT_PATIENCE_MS, ConstraintError, patiently, type Database } from '@millrace/database';
import type { CatalogueStore, PoolStore, WorkerStore, WorkerState } from '@millrace/deployments';
import type { Engine } from '@millrace/engines';
import { isWarm, type ClaimedAttempt, type WarmClaims } from '@millrace/jobs';
import { inSpan, recordSpan, underTrace, type Logger } from '@millrace/platform';
import { Attempt, type AttemptParts } from './attempt/attempt';
import type { EngineSlot } from './engines/engine-slot';
import { EngineSlots, type Release } from './engines/engine-slots';
import { PublishedCatalogue } from './engines/published-catalogue';

const REPORT_EVERY_MS = 3_000;

export interface WorkerIdentity {
  id: string;
  poolId: string;
  version: string;
}

export interface WorkerParts {
  identity: WorkerIdentity;
  database: Database;
  pools: PoolStore;
  workers: WorkerStore;
  catalogues: CatalogueStore;
  claims: Pick<WarmClaims, 'take'>;
  engines: Engine[];
  attempt: Omit<AttemptParts, 'catalogue'>;
  logger: Logger;
  drainMs: number;
  /** Called once when an operator asks the worker to drain: it must take nothing more from the lane. */
  onDraining: () => void;
}

/**
 * One member of a pool: announces itself and what it can run, runs the attempts it is handed, each on an engine of its own,
 * and goes in order.
 */
export class PoolWorker {
  private readonly slots: EngineSlots;
  /** Everything that was taken and has not ended, stored and told. */
  private readonly underWay = new Set<Promise<void>>();
  /** An attempt that cleans up may be here beside the next of the same job. */
  private readonly running = new Set<{ jobId: string; attempt: Attempt }>();
  private readonly leaving = new AbortController();
  private readonly catalogue: PublishedCatalogue;
  private state: WorkerState = 'starting';
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly parts: WorkerParts) {
    this.slots = new EngineSlots(parts.engines, parts.logger);
    const { catalogues, database, engines, identity, logger } = parts;
    const kind = engines[0]?.kind ?? 'cpu';
    const publish = (catalogue: NodeCatalogue): Promise<string> =>
      catalogues.publish(database, identity.poolId, kind, catalogue);
    this.catalogue = new PublishedCatalogue(engines, publish, logger);
  }

  /**
   * Announce itself, bring the engines up, publish what they can run, and be counted on. From its announcement to its
   * readiness is what a start takes.
   */
  async start(): Promise<void> {
    const { database, engines, identity, pools } = this.parts;
    const kind = engines[0]?.kind ?? 'cpu';
    await patiently(BOOT_PATIENCE_MS, () => pools.ensure(database, identity.poolId, kind));
    await patiently(BOOT_PATIENCE_MS, () => this.register(kind));
    this.timer = setInterval(() => void this.report(), REPORT_EVERY_MS);
    await Promise.all(engines.map((engine) => engine.start()));
    await patiently(BOOT_PATIENCE_MS, () => this.catalogue.refresh());
    this.state = 'ready';
    await this.report();
  }

  private async register(kind: string): Promise<void> {
    const { database, engines, identity, workers } = this.parts;
    const registration = { ...identity, engine: kind, host: hostname(), pid: process.pid, capacity: engines.length };
    try {
      await workers.register(database, registration);
    } catch (error) {
      // An earlier try came through, and its answer did not.
      if (!(error instanceof ConstraintError && error.kind === 'unique')) throw error;
    }
  }

  /** Say how it is, and learn whether to drain. Never rejects. */
  private async report(): Promise<void> {
    const { database, identity, logger, workers } = this.parts;
    try {
      const healths = await this.slots.healths();
      const problem = healths.find((health) => !health.ready)?.problem ?? null;
      const state = this.state === 'ready' && problem !== null ? 'starting' : this.state;
      const residentModels = [...new Set(healths.flatMap((health) => health.residentModels))];
      const report = { state, residentModels, problem, attemptMs: this.slots.attemptMs };
      const told = await workers.heartbeat(database, identity.id, report);
      if (told === 'draining' && this.state === 'ready') {
        this.state = 'draining';
        this.parts.onDraining();
      }
      // After the heartbeat: to read the catalogue can take its time.
      if (state === 'ready') await this.catalogue.refresh();
    } catch (error) {
      logger.warn({ err: error }, 'the worker could not report');
    }
  }

  /**
   * Take an attempt from the lane and run it. Resolves when its engine can be given another: what the attempt made may
   * still be stored then, and its end be told. Never rejects.
   *
   * @returns the hint where the attempt is left to another worker.
   */
  async take(message: DispatchMessage): Promise<DispatchMessage | null> {
    // A hint that is not taken up comes again, here or at a worker that is well.
    if (!this.isReady) return null;
    return this.slots.occupy(message, (slot, release) => {
      const over = this.traced(message, () => this.attempt(message, slot, release)).finally(() => {
        this.underWay.delete(over);
        release({ left: null, hasRun: false });
      });
      this.underWay.add(over);
    });
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
    const { claims, identity, logger } = this.parts;
    try {
      if (!(await slot.isWell())) return await this.report();
      const { claimed, left } = await claims.take(message, { ...identity, warm: slot.warm });
      if (claimed !== null) await this.run(claimed, slot, release);
      else release({ left, hasRun: false });
    } catch (error) {
      logger.error({ err: error, job: message.jobId }, 'an attempt could not be taken');
    }
  }

  /** True while it takes attempts. */
  get isReady(): boolean {
    return this.state === 'ready';
  }

  private async run(claimed: ClaimedAttempt, slot: EngineSlot, release: (release: Release) => void): Promise<void> {
    const parts = { ...this.parts.attempt, catalogue: () => this.catalogue.current };
    const attempt = new Attempt(parts, claimed, slot, this.leaving.signal);
    const entry = { jobId: claimed.jobId, attempt };
    this.running.add(entry);
    const done = (): void => release({ left: null, hasRun: true });
    const over: Promise<void> = attempt.run(() => void this.vacate(claimed, slot, over).finally(done));
    await over;
    this.running.delete(entry);
    done();
  }

  /** Resolves when an engine that has settled can be given another attempt than the one that ends `over` there. Never rejects. */
  private async vacate({ models }: ClaimedAttempt, slot: EngineSlot, over: Promise<void>): Promise<void> {
    // A run that loaded nothing has changed little: what it has left is learnt beside the next.
    const isCold = !isWarm({ models }, slot.warm);
    const noted = models.length > 0 ? this.noteModels(slot) : Promise.resolve();
    await Promise.all([slot.leave(over), isCold ? noted : undefined]);
  }

  /** What a run has left in memory decides what the worker takes next, and what others leave to it. Never rejects. */
  private async noteModels(slot: EngineSlot): Promise<void> {
    const before = slot.warm.join();
    try {
      await slot.health();
    } catch (error) {
      this.parts.logger.warn({ err: error }, 'an engine could not be asked what it holds');
    }
    if (slot.warm.join() !== before) void this.report();
  }

  /** A word that a job is to be canceled; resolves when its attempts here have heard of it. Never rejects. */
  async cancel(jobId: string): Promise<void> {
    const meant = [...this.running].filter((entry) => entry.jobId === jobId);
    await Promise.all(meant.map(({ attempt }) => attempt.checkForCancel()));
  }

  /**
   * Take nothing more; let what runs end within the drain time, and give the rest back. Resolves when all of it is stored and
   * told.
   */
  async drain(): Promise<void> {
    this.state = 'draining';
    await this.report();
    const timer = setTimeout(() => this.leaving.abort(), this.parts.drainMs);
    await Promise.all(this.underWay);
    clearTimeout(timer);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.state = 'stopped';
    await this.report();
    await Promise.all(this.parts.engines.map((engine) => engine.close()));
  }
}
