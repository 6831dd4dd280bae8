export type { Fleet } from './fleet';
export { FleetGroupStore } from './fleet-group.store';
export { FleetLeaseStore } from './fleet-lease.store';
export { StepRunner } from './step-runner';
export { KUBERNETES_RIGHTS, KubernetesFleet, readTemplates, serviceAccount } from './kubernetes';
export { NoFleet } from './none.fleet';
export { ProcessFleet } from './processes.fleet';
export { Reconciler } from './reconcile';
export { ServedPoolStore } from './served-pool.store';
