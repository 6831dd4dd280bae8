import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const ATTEMPT_END = 'apps/worker/src/attempt/attempt-end.ts';
const WORKER = 'apps/worker/src/worker.ts';
const SLOTS = 'apps/worker/src/engines/engine-slots.ts';
const LATE_LEASES = 'libs/jobs/src/leases/late-lease.store.ts';
const PRESENCE = 'libs/messaging/src/worker-presence.ts';
const MEMBERSHIP = 'apps/worker/src/pool-membership.ts';
const MEMBERSHIPS = ['apps/worker/src/pool-membership.spec'];
const REMOTE_GRAPH = 'apps/worker/src/remote/remote-graph.ts';
const REMOTE_POOLS = ['apps/worker/src/remote/remote-pool.spec'];
const ATTEMPT_ENDS = ['apps/worker/src/attempt/attempt-end.spec'];
const GONE_WORKERS = ['libs/jobs/src/leases/gone-workers.int-spec'];
const PRESENCES = ['libs/messaging/src/worker-presence.int-spec'];
const SICK_WORKERS = ['apps/worker/src/sick-engine.int-spec'];

/** Of workers: what they take, and what they give back. @type {Guard[]} */
export const WORKER_GUARDS = [
  of('a worker hands back in a drain alone', ATTEMPT_END, 'if (draining)', 'if (true)', ATTEMPT_ENDS),
  of(
    'a worker that lost an engine to a limit ends the job',
    ATTEMPT_END,
    'endOfLimit(lease) ?? endOfLost(',
    'endOfLost(',
    ATTEMPT_ENDS,
  ),
  of(
    'a worker leaves the lane when its engine is sick',
    SLOTS,
    '.filter((slot) => !this.free.has(slot) || !slot.isSick).length',
    '.length',
    SICK_WORKERS,
  ),
  of(
    'a worker leaves the lane when its disk takes nothing',
    WORKER,
    'this.parts.workFolder.problem === null ? this.slots.capacity : 0',
    'this.slots.capacity',
    SICK_WORKERS,
  ),
  of(
    'a worker leaves the lane when its claims fail',
    WORKER,
    'if (isTransient(error)) this.membership.claimFailed();',
    '',
    SICK_WORKERS,
  ),
  of(
    'a worker leaves the lane when its heartbeats fail',
    MEMBERSHIP,
    ' && performance.now() - this.reachedAtMs <= REACH_MS',
    '',
    MEMBERSHIPS,
  ),
  of(
    'a worker that is not known registers again',
    MEMBERSHIP,
    'await registry.register(this.registration);',
    '',
    MEMBERSHIPS,
  ),
  of(
    'a heartbeat that hangs is ended when the next is due',
    'apps/worker/src/attempt/lease-keeper.ts',
    'this.beating?.limit.abort();',
    '',
    ['apps/worker/src/attempt/lease-keeper.spec'],
  ),
  of(
    'a graph that is not read under a lost lease ends nothing',
    REMOTE_GRAPH,
    "if (lease.end === 'lost' || isNotHeld(error)) throw error;",
    '',
    REMOTE_POOLS,
  ),
  of(
    'a graph that is not read hands back in bounds',
    REMOTE_GRAPH,
    ' && attempt > LAST_FREE_ATTEMPT',
    ' && false',
    REMOTE_POOLS,
  ),
  of(
    'a worker that cannot begin hands back in bounds',
    'apps/worker/src/attempt/attempt.ts',
    ' && this.claimed.attempt <= LAST_FREE_ATTEMPT',
    '',
    ['apps/worker/src/attempt/attempt.int-spec'],
  ),
  of(
    'a worker removes no folder of a living one',
    'apps/worker/src/work-files/work-dir.ts',
    '!isAlive(Number(name))',
    'true',
    ['apps/worker/src/work-files/work-dir.spec'],
  ),
  of('a sick engine is given nothing', SLOTS, '.filter((slot) => !slot.isSick);', ';', [
    'apps/worker/src/engines/engine-slots.spec',
  ]),
  of(
    'a worker that can run nothing reports so',
    MEMBERSHIP,
    "state === 'ready' && capacity === 0 ? 'starting' : state",
    'state',
    SICK_WORKERS,
  ),
  of(
    'a worker that can run nothing gives back what it took',
    WORKER,
    'if (!this.isReady) return message;',
    'if (!this.isReady) return null;',
    ['apps/worker/src/worker.int-spec'],
  ),
  of(
    'a claim that did not reach the database gives its message back',
    WORKER,
    'return { claimed: null, left: message };',
    'return { claimed: null, left: null };',
    SICK_WORKERS,
  ),
  of(
    'only the claim that was found late loses its lease',
    LATE_LEASES,
    ' AND j.lease_token = late.token',
    '',
    GONE_WORKERS,
  ),
  of(
    'a lease that was renewed meanwhile does not end',
    LATE_LEASES,
    'late.token AND ${isLate(leaseSeconds)}',
    'late.token',
    GONE_WORKERS,
  ),
  of(
    'only a lease that is late may end before its time',
    LATE_LEASES,
    'IS NOT NULL AND ${isLate(leaseSeconds)}',
    'IS NOT NULL',
    GONE_WORKERS,
  ),
  of('a worker that never subscribed is not gone', PRESENCE, 'marked[nth] !== null && ', '', PRESENCES),
  of(
    'no worker is gone soon after Redis came back',
    PRESENCE,
    ' && this.nowMs() - this.readySinceMs >= SETTLED_AFTER_MS',
    '',
    PRESENCES,
  ),
];
