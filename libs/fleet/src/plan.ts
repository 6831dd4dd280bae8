import type { EngineClass } from '@millrace/deployments';
import { workersNeeded, workersWanted } from './desired';
import type { GroupOrder, FleetMember } from './fleet';
import { nextTry, type Tries } from './retries';
import type { ReportedWorker, ServedPool } from './served-pool.store';
import { staffOf, type Staff, type StaffMember } from './staff';

export type GroupPhase = 'idle' | 'starting' | 'running' | 'stopping' | 'failed';

/** What is known of a pool's workers from the step before, and shown to people. */
export interface GroupRecord extends Tries {
  wanted: number;
  /** Workers that are ready. */
  running: number;
  phase: GroupPhase;
  /** Why it is not as wanted; null where it is. */
  reason: string | null;
  /** Since when it has more workers than its jobs need. */
  surplusSince: Date | null;
  /** Nothing that the fleet does by itself makes its workers come: its account is sent `deployment.failed` when this begins. */
  stuck: boolean;
}

/** How long a worker waits for room until an outdated one makes it: longer than an autoscaler takes to add a machine. */
const ROOM_AFTER_MS = 600_000;

/** While a revision replaces others, a pool has this many times its `max_workers` at most. */
const REVISIONS_AT_ONCE = 2;

/** Starts that fail one after the other until somebody has to look. */
const FAILURES_UNTIL_STUCK = 3;

export const NEW_GROUP: GroupRecord = {
  wanted: 0,
  running: 0,
  phase: 'idle',
  reason: null,
  surplusSince: null,
  failures: 0,
  failure: null,
  nextTryAt: null,
  stuck: false,
};

/** How much work a pool has, as the process says that runs the fleet. */
export interface Demand {
  pendingJobs: number;
  runningJobs: number;
  busyWorkers: ReadonlySet<string>;
}

/** Everything that decides what is done for a pool. */
export interface PoolFacts {
  pool: ServedPool;
  /** Null where there never was such a class. */
  engineClass: EngineClass | null;
  demand: Demand;
  members: readonly FleetMember[];
  workers: readonly ReportedWorker[];
  group: GroupRecord;
  now: Date;
}

/** What is done for a pool in one step. */
export interface PoolPlan {
  /** Ids of workers to drain. */
  drain: string[];
  /** Null where nothing can be ordered: the class is not known. */
  order: GroupOrder | null;
  group: GroupRecord;
}

/**
 * One step towards what a deployment wants. It is made from facts alone, so that it may be repeated, and go on after any other
 * step of any other process. A busy worker is not stopped: an idle one drains first, and is stopped when it knows that and still has
 * nothing to do. Only what has to make room for a new revision may drain while it is busy.
 */
export function planPool(facts: PoolFacts): PoolPlan {
  const { pool, engineClass, demand, members, workers, group, now } = facts;
  const staff = staffOf(members, workers, engineClass, demand.busyWorkers, now);
  const { fitting, outdated } = staff;
  const outside = workers.filter(({ joined, ready, draining }) => joined && ready && !draining);
  const capacities = workers.filter(({ joined }) => !joined).map(({ capacity }) => capacity);
  const need = {
    ...pool,
    ...demand,
    // What joined from outside does its part: only the rest is started.
    minWorkers: Math.max(0, pool.minWorkers - outside.length),
    pendingJobs: Math.max(0, demand.pendingJobs - outside.reduce((sum, { capacity }) => sum + capacity, 0)),
    attemptsPerWorker: capacities.length > 0 ? Math.max(...capacities) : (pool.lastCapacity ?? 1),
    // While a new revision replaces another one there are two of each, which are not two to keep.
    current: Math.max(fitting.length, outdated.length),
  };
  const surplus = !pool.stopped && need.current > workersNeeded(need);
  const surplusSince = surplus ? (group.surplusSince ?? now) : null;
  const surplusSeconds = surplusSince === null ? null : (now.getTime() - surplusSince.getTime()) / 1_000;
  const wanted = workersWanted({ ...need, surplusSeconds });
  const { mayStart, tries } = nextTry(group, staff, wanted, now);
  const { drain, leaving } = leavers(facts, staff, wanted);
  const offered = engineClass !== null && engineClass.retiredAt === null && !pool.stopped;
  const living = members.filter(
    ({ id, phase }) => (phase === 'running' || phase === 'starting') && !leaving.includes(id),
  );
  // Busy workers of other revisions stay as long as their jobs, and the class of a deployment may change meanwhile again and again.
  const room = Math.max(0, pool.maxWorkers * REVISIONS_AT_ONCE - living.length);
  const starts = offered && mayStart ? Math.min(room, Math.max(0, wanted - fitting.length)) : 0;
  const order =
    engineClass === null ? null : { poolId: pool.poolId, engineClass, size: living.length + starts, leaving };
  const shown = { wanted, running: staff.ready.length, surplusSince, ...tries };
  const stuck = isStuck(facts, staff, shown);
  return { drain, order, group: { ...shown, stuck, ...stateOf(facts, staff, shown) } };
}

/** Who is to go: the overdue, the superseded, those that have drained, and of those that are too many the ones that are idle or not ready. */
function leavers(facts: PoolFacts, staff: Staff, wanted: number): { drain: string[]; leaving: string[] } {
  const { staying, ready, fitting, outdated, draining, overdue, superseded } = staff;
  const isIdle = idleIn(facts);
  // Workers of another revision go when others are ready in their place.
  const spare = (outdated.length > 0 ? ready.length : staying.length) - wanted;
  // A busy one of another revision is spare and cannot go. No other one goes for it that would be started again at once.
  const spareFitting = fitting.length - (facts.pool.stopped ? 0 : wanted);
  // First what waits for room, then what comes up in the room that it has.
  const progress = (one: StaffMember): number => (ready.includes(one) ? 2 : one.member.room?.lackedSince ? 0 : 1);
  const idle = staying.filter(isIdle).sort((a, b) => progress(a) - progress(b));
  const going = [
    ...idle.filter((one) => outdated.includes(one)),
    ...idle.filter((one) => fitting.includes(one)).slice(0, Math.max(0, spareFitting)),
  ].slice(0, Math.max(0, spare));
  if (going.length === 0) going.push(...makesRoom(facts, staff, wanted));
  const over = draining.filter((one) => one.worker?.drained === true && isIdle(one));
  const unready = going.filter(({ worker }) => worker?.ready !== true);
  return {
    drain: going.flatMap(({ worker }) => (worker?.ready === true ? [worker.id] : [])),
    leaving: [...overdue, ...superseded, ...[...over, ...unready].map(({ member }) => member)].map(({ id }) => id),
  };
}

/**
 * The outdated worker, an idle one if there is one, that drains although none is ready in its place: one of the new revision has
 * long waited for just the room that this one has. One at a time: while fewer are ready than wanted, the one before is not replaced.
 */
function makesRoom(facts: PoolFacts, { ready, fitting, outdated, draining }: Staff, wanted: number): StaffMember[] {
  if (draining.length > 0 || ready.length < wanted) return [];
  const isLate = (since: Date | null): boolean =>
    since !== null && facts.now.getTime() - since.getTime() >= ROOM_AFTER_MS;
  const needed = fitting.flatMap(({ member: { room } }) =>
    room !== undefined && isLate(room.lackedSince) ? [room.needs] : [],
  );
  const matching = outdated.filter((one) => ready.includes(one) && needed.includes(one.member.room?.needs ?? ''));
  const one = matching.find(idleIn(facts)) ?? matching[0];
  return one === undefined ? [] : [one];
}

function idleIn({ demand }: PoolFacts): (one: StaffMember) => boolean {
  return ({ worker }) => worker === null || !demand.busyWorkers.has(worker.id);
}

/** True where workers are wanted that no class describes any more. */
function lacksClass(engineClass: EngineClass | null, staying: Staff['staying'], wanted: number): boolean {
  return (engineClass === null || engineClass.retiredAt !== null) && wanted > staying.length;
}

/** True where workers are wanted, and trying again has not helped or cannot help. */
function isStuck(
  { engineClass }: PoolFacts,
  { staying }: Staff,
  { wanted, failures }: Pick<GroupRecord, 'wanted' | 'failures'>,
): boolean {
  return lacksClass(engineClass, staying, wanted) || failures >= FAILURES_UNTIL_STUCK;
}

function stateOf(
  facts: PoolFacts,
  staff: Staff,
  { wanted, running, failures, failure }: Pick<GroupRecord, 'wanted' | 'running' | 'failures' | 'failure'>,
): Pick<GroupRecord, 'phase' | 'reason'> {
  const { pool, engineClass } = facts;
  const { staying, fitting, outdated, draining, lost } = staff;
  if (lacksClass(engineClass, staying, wanted)) {
    return { phase: 'failed', reason: `its class ${pool.engineClass} is gone` };
  }
  if (failures > 0) {
    const times = failures > 1 ? ` (${failures} times)` : '';
    return { phase: 'failed', reason: `engine failed to start${times}: ${failure}` };
  }
  if (running < wanted) {
    const why = [...staying.map(whyNotReady), ...lost.map(({ reason }) => reason)].find((reason) => reason !== null);
    const what = `starting ${wanted - running} of ${wanted} workers`;
    return { phase: 'starting', reason: why === undefined ? what : `${what}: ${why}` };
  }
  if (staying.length > wanted || draining.length > 0) {
    const why = outdated.length > 0 ? fitting.map(whyNotReady).find((reason) => reason !== null) : undefined;
    return { phase: 'stopping', reason: why === undefined ? null : `replacing ${outdated.length} workers: ${why}` };
  }
  return { phase: wanted === 0 ? 'idle' : 'running', reason: null };
}

/** What keeps a worker from being ready: what runs it says so, or the worker itself. */
function whyNotReady({ member, worker }: StaffMember): string | null {
  return member.reason ?? (worker?.ready === false ? worker.problem : null);
}
