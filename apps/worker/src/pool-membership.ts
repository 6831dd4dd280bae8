import { hostname } from 'node:os';
import { REPORT_TEXT_LENGTH, endsOf } from '@millrace/contracts';
import { BOOT_TIMEOUT_MS, retryWhileStarting } from '@millrace/database';
import type { OwnStart, WorkerRegistration, WorkerReport, WorkerState } from '@millrace/deployments';
import type { EngineHealth } from '@millrace/engines';
import type { PoolRegistry } from './pool-registry';

export const HEARTBEAT_EVERY_MS = 3_000;
/** Without a heartbeat that succeeded for so long a worker counts as cut off from PostgreSQL. */
const REACH_MS = 2 * HEARTBEAT_EVERY_MS;
/** A heartbeat sent earlier after a failed claim proves nothing: a worker whose claims alone fail must not claim without a pause. */
const AFTER_FAILED_CLAIM_MS = 1_000;

interface WorkerIdentity {
  id: string;
  poolId: string;
  version: string;
}

export interface MembershipParts {
  identity: WorkerIdentity;
  registry: PoolRegistry;
}

/** How a worker and its engines are. */
interface FitnessReport {
  healths: EngineHealth[];
  /** Names of models on this machine's disk. */
  diskModels: string[];
  /** What its cache of models can hold; null where it has none, or that cannot be read. */
  modelCacheBytes: number | null;
  /** What is to be said of the models that the pool's deployment names; null: nothing. */
  modelsNote: string | null;
  /** Why the worker itself can run nothing, for an operator; null where it can. */
  problem: string | null;
  /** Attempts that the worker can run at once now: 0 while all its engines are sick, or it has a problem of its own. */
  capacity: number;
  /** What its start took; null until it is over. */
  start: OwnStart | null;
  /** How long recent attempts occupied their engine, in whole milliseconds (a mean); null until there was one. */
  attemptMs: number | null;
}

/** This worker as its pool sees it: it registers, and reports its state with each heartbeat. */
export class PoolMembership {
  /** When the latest heartbeat that succeeded was sent. */
  private reachedAtMs = performance.now();
  /** Only a heartbeat that is sent later proves that the worker reaches PostgreSQL. */
  private doubtedUntilMs = Number.NEGATIVE_INFINITY;

  /** As what the pool knows this worker; null until it has registered. */
  private registration: WorkerRegistration | null = null;

  constructor(private readonly parts: MembershipParts) {}

  /** Whether this worker reaches PostgreSQL, by its heartbeats and claims. One that does not would only swallow messages. */
  get isInReach(): boolean {
    return this.reachedAtMs > this.doubtedUntilMs && performance.now() - this.reachedAtMs <= REACH_MS;
  }

  /** A claim did not reach PostgreSQL: out of reach until a later heartbeat succeeds. */
  claimFailed(): void {
    this.doubtedUntilMs = performance.now() + AFTER_FAILED_CLAIM_MS;
  }

  /**
   * Be known to the pool, which is made if it is missing. Waits for a database that is starting.
   *
   * @throws {Error} when the database stays away
   */
  async register(engine: string, capacity: number): Promise<void> {
    const { identity, registry } = this.parts;
    const registration = { ...identity, engine, host: hostname(), pid: process.pid, capacity };
    await retryWhileStarting(BOOT_TIMEOUT_MS, () => registry.ensurePool(identity.poolId, engine));
    await retryWhileStarting(BOOT_TIMEOUT_MS, () => registry.register(registration));
    this.registration = registration;
    this.reachedAtMs = performance.now();
  }

  /**
   * Send a heartbeat. A worker that the pool does not know any more, because it was silent for a day, registers again with it. A worker that can
   * run nothing is reported as starting: dispatching counts on nothing from it. One with some of its engines sick counts for less. Of texts that
   * are longer than a report may have, the middle is left out: one that were refused for it would have the worker count as lost.
   *
   * @returns whether an operator wants the worker to drain.
   */
  async report(
    state: WorkerState,
    { healths, diskModels, modelCacheBytes, modelsNote, problem, capacity, attemptMs, start }: FitnessReport,
  ): Promise<boolean> {
    const reported = state === 'ready' && capacity === 0 ? 'starting' : state;
    const residentModels = [...new Set(healths.flatMap((health) => health.residentModels))];
    const sentAtMs = performance.now();
    const wanted = await this.send({
      state: reported,
      residentModels,
      diskModels,
      ...(modelCacheBytes !== null && { modelCacheBytes }),
      problem: bounded(problem ?? healths.find((health) => !health.ready)?.problem ?? null),
      modelsNote: bounded(modelsNote),
      attemptMs,
      ...(start !== null && { start }),
      ...(capacity > 0 && { capacity }),
    });
    this.reachedAtMs = Math.max(this.reachedAtMs, sentAtMs);
    return wanted === 'draining';
  }

  /** @returns the state that holds now; null where this worker has reported its stop. */
  private async send(report: WorkerReport): Promise<WorkerState | null> {
    const { identity, registry } = this.parts;
    const wanted = await registry.heartbeat(identity.id, report);
    if (wanted !== null || report.state === 'stopped' || this.registration === null) return wanted;
    await registry.ensurePool(identity.poolId, this.registration.engine);
    await registry.register(this.registration);
    return registry.heartbeat(identity.id, report);
  }
}

function bounded(text: string | null): string | null {
  return text && endsOf(text, REPORT_TEXT_LENGTH);
}
