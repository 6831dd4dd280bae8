import { of } from './guard.mjs';

/** @typedef {import('./guard.mjs').Guard} Guard */

const RECONCILE = 'libs/fleet/src/reconcile.ts';
const LEASES = 'libs/fleet/src/fleet-lease.store.ts';
const GROUPS = 'libs/fleet/src/fleet-group.store.ts';
const SERVED = 'libs/fleet/src/served-pool.store.ts';
const PLAN = 'libs/fleet/src/plan.ts';
const KUBERNETES = 'libs/fleet/src/kubernetes/kubernetes.fleet.ts';
const CONTROLLERS = ['libs/fleet/src/reconcile.int-spec'];
const CLUSTERS = ['libs/fleet/src/kubernetes/kubernetes.fleet.spec'];
const CRASHES = ['libs/fleet/src/kubernetes/controller-crashes.int-spec'];
const PLANS = ['libs/fleet/src/plan.spec'];

/** Of the fleet: who may change it, and who is never stopped. @type {Guard[]} */
export const FLEET_GUARDS = [
  of('one controller leads', LEASES, 'WHERE l.holder = excluded.holder OR l.expires_at < now()', '', CONTROLLERS),
  of(
    'another controller has another fence',
    LEASES,
    'CASE WHEN l.holder = excluded.holder THEN l.fence ELSE l.fence + 1 END',
    'l.fence',
    CONTROLLERS,
  ),
  of(
    'a controller that leads no longer records nothing',
    GROUPS,
    'FROM fleet_leases WHERE name = ${name} AND fence = ${fence}',
    'FROM fleet_leases WHERE name = ${name} AND fence >= ${fence}',
    CONTROLLERS,
  ),
  of(
    'a controller that leads no longer drains nobody',
    SERVED,
    "AND state <> 'stopped'\n        AND EXISTS (SELECT FROM fleet_leases WHERE name = ${name} AND fence = ${fence})",
    "AND state <> 'stopped'\n        AND EXISTS (SELECT FROM fleet_leases WHERE name = ${name} AND fence >= ${fence})",
    CONTROLLERS,
  ),
  of(
    'a controller that leads no longer notes no start',
    SERVED,
    'AND schedule_ms IS NULL AND pull_ms IS NULL\n        AND EXISTS (SELECT FROM fleet_leases WHERE name = ${name} AND fence = ${fence})',
    'AND schedule_ms IS NULL AND pull_ms IS NULL\n        AND EXISTS (SELECT FROM fleet_leases WHERE name = ${name} AND fence >= ${fence})',
    CONTROLLERS,
  ),
  of(
    'a start that was noted stays as it is',
    SERVED,
    ' AND schedule_ms IS NULL AND pull_ms IS NULL\n',
    '\n',
    CONTROLLERS,
  ),
  of(
    'a cluster API that answers nothing is not waited for',
    'libs/fleet/src/kubernetes/api.ts',
    'headers, agent: this.agent, signal }',
    'headers, agent: this.agent }',
    CRASHES,
  ),
  of(
    'a controller whose time has passed orders nothing',
    RECONCILE,
    'performance.now() >= lead.untilMs',
    'false',
    CONTROLLERS,
  ),
  of('a busy worker is not chosen to go', PLAN, 'staying.filter(isIdle)', '[...staying]', PLANS),
  of(
    'a drained worker that is busy again is not stopped',
    PLAN,
    'one.worker?.drained === true && isIdle(one)',
    'one.worker?.drained === true',
    PLANS,
  ),
  of(
    'no second worker makes room before the first is replaced',
    PLAN,
    'draining.length > 0 || ready.length < wanted',
    'draining.length > 0',
    PLANS,
  ),
  of(
    'no worker makes room for one that needs another',
    PLAN,
    "ready.includes(one) && needed.includes(one.member.room?.needs ?? '')",
    'ready.includes(one) && needed.length > 0',
    PLANS,
  ),
  of(
    'a retired class starts no workers',
    PLAN,
    ' && engineClass.retiredAt === null && !pool.stopped',
    ' && !pool.stopped',
    PLANS,
  ),
  of('a failed start is not repeated at once', PLAN, 'offered && mayStart ?', 'offered ?', PLANS),
  of(
    'Kubernetes does not choose a busy worker',
    KUBERNETES,
    'if (!wouldGo(begun, going)) return { staying, replicas: active.length };',
    '',
    CLUSTERS,
  ),
  of(
    'a pod that is not named is not stopped',
    KUBERNETES,
    'return { staying, replicas: staying };',
    'return { staying, replicas: wanted };',
    CLUSTERS,
  ),
  of('what others change is set back', KUBERNETES, 'untouched && applied?.digest', 'applied?.digest', CLUSTERS),
  of(
    'a pool that is refused is not asked for at once',
    'libs/fleet/src/kubernetes/order-pauses.ts',
    'if (failure !== undefined && performance.now() < failure.notBeforeMs) throw failure.error;',
    '',
    ['libs/fleet/src/kubernetes/order-pauses.spec'],
  ),
];
