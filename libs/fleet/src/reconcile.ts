import { isDeepStrictEqual } from 'node:util';
import type { Statements } from '@millrace/database';
import { phasesOf, type EngineClassStore, type StartPhase } from '@millrace/deployments';
import type { Fleet, Group } from './fleet';
import type { FleetGroupStore } from './fleet-group.store';
import type { FleetLeaseStore } from './fleet-lease.store';
import { NEW_GROUP, planPool, type Demand, type GroupRecord, type PoolFacts } from './plan';
import type { ReportedWorker, ServedPool, ServedPoolStore } from './served-pool.store';
import { StartWatch, placementsOf } from './start-watch';

/** The lead of all controllers of one service. */
const LEASE = 'deployments';
/** Renewed by every step, which come every second. */
const LEASE_SECONDS = 10;
/** Longer than steps are apart, also after one that failed: in so long without an answer PostgreSQL was away. */
const OUTAGE_MS = 30_000;
const NO_DEMAND: Demand = { pendingJobs: 0, runningJobs: 0, busyWorkers: new Set() };

/** The right of a controller to change things, until its lease may be another one's. */
interface Lead {
  fence: bigint;
  /** On the clock of this process, which began to count before PostgreSQL did. */
  untilMs: number;
}

/** What the reconciliation is built on. */
export interface ReconcileParts {
  database: Statements;
  fleet: Fleet;
  leases: FleetLeaseStore;
  groups: FleetGroupStore;
  served: ServedPoolStore;
  classes: EngineClassStore;
  /** How much work each pool has. */
  demand: () => Promise<ReadonlyMap<string, Demand>>;
  /** Ids of the pools with jobs that wait or run. */
  working: () => Promise<readonly string[]>;
  /** An order that failed; the next step repeats it. */
  failed: (poolId: string, error: unknown) => void;
  /** How a pool is after a step. */
  recorded: (poolId: string, group: GroupRecord) => void;
  /** The pools that there are, before the first of them is looked at: none that is missing exists any more. */
  listed: (poolIds: readonly string[]) => void;
  /** A worker of a class has become ready; what its phases took, in milliseconds, null where that was not measured. */
  started: (engineClass: string, phases: Record<StartPhase, number | null>) => void;
}

/**
 * Compares what deployments want with what runs, and takes one step towards it. One controller leads at a time; each step reads
 * all facts again, so that it goes on from any state in which another one was ended.
 */
export class Reconciler {
  private fence: bigint | null = null;
  /** Since when PostgreSQL has answered the steps without a gap, and when it last did, on the clock of this process. */
  private answeredSinceMs = 0;
  private answeredAtMs = Number.NEGATIVE_INFINITY;
  private readonly starts = new StartWatch();

  constructor(
    private readonly holder: string,
    private readonly parts: ReconcileParts,
  ) {}

  /** @returns whether this controller leads. */
  async step(): Promise<boolean> {
    const { database, leases } = this.parts;
    const untilMs = performance.now() + LEASE_SECONDS * 1_000;
    const fence = await leases.take(database, LEASE, this.holder, LEASE_SECONDS);
    this.noteAnswer();
    // Another one led in between, and started workers of its own: what this one runs is too many.
    if (fence === null || (this.fence !== null && fence !== this.fence)) await this.parts.fleet.resign();
    this.fence = fence;
    if (fence === null) this.starts.forget();
    else await this.reconcile({ fence, untilMs });
    return fence !== null;
  }

  /** Let another controller lead at once. What runs only with this process has stopped then. */
  async close(): Promise<void> {
    await this.parts.fleet.resign();
    await this.parts.leases.release(this.parts.database, LEASE, this.holder);
  }

  private async reconcile(lead: Lead): Promise<void> {
    const { database, fleet, served, classes, groups, demand, working } = this.parts;
    const observed = await fleet.observe();
    const pools = await served.pools(database, await working());
    const poolIds = pools.map(({ poolId }) => poolId);
    const present = observed.flatMap(({ members }) => members);
    const [reported, known, recorded] = await Promise.all([
      served.workers(database, poolIds, present),
      classes.list(database),
      groups.list(database, poolIds),
    ]);
    const workers = reported.map((worker) => this.withKnownSilence(worker));
    this.parts.listed(poolIds);
    await this.noteStarts(lead, observed, pools, workers);
    // Read last: a worker that is idle now may be drained.
    const demands = await demand();
    const wanted = new Set(pools.filter(({ deleted }) => !deleted).map(({ poolId }) => poolId));
    const unwanted = observed.map(({ poolId }) => poolId).filter((poolId) => !wanted.has(poolId));
    // The lease may be another one's by now. What the fleet is ordered has no fence, so a late controller orders nothing.
    const isLate = (): boolean => performance.now() >= lead.untilMs;
    for (const poolId of unwanted) if (!isLate()) await this.order(poolId, () => fleet.dissolve(poolId));
    for (const pool of pools) {
      const { poolId } = pool;
      const group = recorded.find((one) => one.poolId === poolId) ?? null;
      const facts = {
        pool,
        group: group ?? NEW_GROUP,
        engineClass: known.find(({ name }) => name === pool.engineClass) ?? null,
        demand: demands.get(poolId) ?? NO_DEMAND,
        members: membersOf(observed, poolId),
        workers: workers.filter((worker) => worker.poolId === poolId),
      };
      if (isLate()) return;
      const next = pool.deleted ? afterDeletion(facts.members.length) : await this.take(lead, facts);
      // Of what stays as it is nothing is written: most pools do, each second.
      const changed = group === null || !isDeepStrictEqual({ ...next, poolId }, group);
      if (changed && !(await groups.record(database, poolId, next, LEASE, lead.fence))) return;
      this.parts.recorded(poolId, next);
    }
  }

  private noteAnswer(): void {
    const nowMs = performance.now();
    if (nowMs - this.answeredAtMs > OUTAGE_MS) this.answeredSinceMs = nowMs;
    this.answeredAtMs = nowMs;
  }

  /**
   * A worker as far as its silence says something about it: who was silent while PostgreSQL was away could not report, and reports soon.
   */
  private withKnownSilence(worker: ReportedWorker): ReportedWorker {
    const answeredForSeconds = (this.answeredAtMs - this.answeredSinceMs) / 1_000;
    const { silentSeconds } = worker;
    return silentSeconds === null ? worker : { ...worker, silentSeconds: Math.min(silentSeconds, answeredForSeconds) };
  }

  /** Record and count how workers started. */
  private async noteStarts(
    { fence }: Lead,
    observed: readonly Group[],
    pools: readonly ServedPool[],
    workers: readonly ReportedWorker[],
  ): Promise<void> {
    const { database, served, started } = this.parts;
    const placements = placementsOf(observed, workers);
    for (const { workerId, placed } of placements) await served.notePlaced(database, workerId, placed, LEASE, fence);
    for (const worker of this.starts.newlyReady(workers)) {
      const placed = placements.find(({ workerId }) => workerId === worker.id)?.placed;
      const engineClass = pools.find(({ poolId }) => poolId === worker.poolId)?.engineClass;
      if (engineClass !== undefined) started(engineClass, phasesOf({ ...worker, ...placed }));
    }
  }

  /** Take one step for a pool. What is recorded of it is what was found, not what is hoped for. */
  private async take(lead: Lead, facts: Omit<PoolFacts, 'now'>): Promise<GroupRecord> {
    const { database, fleet, served } = this.parts;
    const { drain, order, group } = planPool({ ...facts, now: new Date() });
    if (drain.length > 0) await served.drain(database, drain, LEASE, lead.fence);
    if (order === null) return group;
    const failure = await this.order(facts.pool.poolId, () => fleet.apply(order));
    return failure === null ? group : { ...group, phase: 'failed', reason: `the fleet does not answer: ${failure}` };
  }

  /** @returns why an order failed; null where it was placed. */
  private async order(poolId: string, place: () => Promise<void>): Promise<string | null> {
    try {
      await place();
      return null;
    } catch (error) {
      this.parts.failed(poolId, error);
      return error instanceof Error ? error.message : String(error);
    }
  }
}

function membersOf(observed: readonly Group[], poolId: string): Group['members'] {
  return observed.find((group) => group.poolId === poolId)?.members ?? [];
}

function afterDeletion(members: number): GroupRecord {
  return members === 0 ? NEW_GROUP : { ...NEW_GROUP, phase: 'stopping', reason: 'its deployment is deleted' };
}
