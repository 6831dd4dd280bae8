import { hostname } from 'node:os';
import { createdAtOf, type DispatchMessage, type NodeCatalogue } from '@millrace/contracts';
import { BOOT_PATIENCE_MS, ConstraintError, patiently, type Database } from '@millrace/database';
import type { CatalogueStore, PoolStore, WorkerStore, WorkerState } from '@millrace/deployments';
import type { Engine } from '@millrace/engines';
import { isWarm, type ClaimedAttempt, type WarmClaims } from '@millrace/jobs';
import { inSpan, recordSpan, underTrace, type Logger } from '@millrace/platform';
import { Attempt, type AttemptParts } from './attempt';
import { EngineSlot } from './engine-slot';
import { Pace } from './pace';
import { PublishedCatalogue } from './published-catalogue';

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
  private readonly slots: EngineSlot[];
  private readonly free: EngineSlot[];
  private readonly running = new Map<string, { attempt: Attempt; done: Promise<void> }>();
  private readonly leaving = new AbortController();
  private readonly catalogue: PublishedCatalogue;
  private state: WorkerState = 'starting';
  private readonly pace = new Pace();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly parts: WorkerParts) {
    this.slots = parts.engines.map((engine) => new EngineSlot(engine, parts.logger));
    this.free = [...this.slots];
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
      const healths = await Promise.all(this.slots.map((slot) => slot.health()));
      const problem = healths.find((health) => !health.ready)?.problem ?? null;
      const state = this.state === 'ready' && problem !== null ? 'starting' : this.state;
      const residentModels = [...new Set(healths.flatMap((health) => health.residentModels))];
      const report = { state, residentModels, problem, attemptMs: this.pace.attemptMs };
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
   * Take an attempt from the lane and run it. Resolves when it is over for this worker; never rejects.
   *
   * @returns the hint where the attempt is left to another worker.
   */
  take(message: DispatchMessage): Promise<DispatchMessage | null> {
    const { jobId, attempt, traceparent } = message;
    const attributes = {
      'millrace.job': jobId,
      'millrace.attempt': attempt,
      'millrace.pool': this.parts.identity.poolId,
    };
    return underTrace(traceparent, () => {
      if (attempt === 1) recordSpan('queue', { startMs: createdAtOf(jobId), endMs: Date.now() }, { attributes });
      return inSpan('attempt', { role: 'consumer', attributes }, () => this.attempt(message));
    });
  }

  private async attempt(message: DispatchMessage): Promise<DispatchMessage | null> {
    const { claims, identity, logger } = this.parts;
    // A hint that is not taken up comes again, here or at a worker that is well.
    const slot = this.state === 'ready' ? this.freeSlot(message) : undefined;
    if (slot === undefined) return null;
    try {
      if (await slot.isWell()) {
        const { claimed, left } = await claims.take(message, { ...identity, warm: slot.warm });
        if (claimed !== null) await this.run(claimed, slot);
        return left;
      }
      await this.report();
    } catch (error) {
      logger.error({ err: error, job: message.jobId }, 'an attempt could not be taken');
    } finally {
      this.free.push(slot);
    }
    return null;
  }

  /** A slot that has nothing to do, of several one that holds the models. */
  private freeSlot(message: DispatchMessage): EngineSlot | undefined {
    const at = this.free.findLastIndex((slot) => isWarm(message, slot.warm));
    return this.free.splice(at, 1)[0];
  }

  /** True while it takes attempts. */
  get isReady(): boolean {
    return this.state === 'ready';
  }

  private async run(claimed: ClaimedAttempt, slot: EngineSlot): Promise<void> {
    const parts = { ...this.parts.attempt, catalogue: () => this.catalogue.current };
    const attempt = new Attempt(parts, claimed, slot, this.leaving.signal);
    const since = performance.now();
    const done = attempt.run().finally(() => this.running.delete(claimed.jobId));
    this.running.set(claimed.jobId, { attempt, done });
    await done;
    this.pace.add(performance.now() - since);
    if (claimed.models.length > 0) await this.noteModels(slot);
  }

  /** What a run has left in memory decides what the worker takes next, and what others leave to it. */
  private async noteModels(slot: EngineSlot): Promise<void> {
    const before = slot.warm.join();
    await slot.health();
    if (slot.warm.join() !== before) await this.report();
  }

  /** A word that a job is to be canceled. */
  cancel(jobId: string): void {
    this.running.get(jobId)?.attempt.checkForCancel();
  }

  /** Take nothing more; let what runs end within the drain time, and give the rest back. */
  async drain(): Promise<void> {
    this.state = 'draining';
    await this.report();
    const timer = setTimeout(() => this.leaving.abort(), this.parts.drainMs);
    await Promise.all([...this.running.values()].map(({ done }) => done));
    clearTimeout(timer);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.state = 'stopped';
    await this.report();
    await Promise.all(this.parts.engines.map((engine) => engine.close()));
  }
}
