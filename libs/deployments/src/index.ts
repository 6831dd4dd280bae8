export { CatalogueReader } from './catalogue-reader';
export { CatalogueStore, type StoredCatalogue } from './catalogue.store';
export { type Deployment, type DeploymentDraft } from './deployment';
export { deploymentState, isIdle, type DeploymentFacts } from './deployment-state';
export { DeploymentStore } from './deployment.store';
export { DeploymentsService, noDeployment } from './deployments.service';
export { poolName } from './pool-name';
export { PoolStore, type Pool } from './pool.store';
export { RetireSilentWorkersLoop } from './retire-silent-workers.loop';
export { startWaitSeconds, type StartOutlook } from './start-wait';
export { SweepStoppedWorkersLoop } from './sweep-stopped-workers.loop';
export { Targets, type Target } from './targets';
export {
  SEEN_WORKER_STATES,
  WORKER_SILENCE_SECONDS,
  WorkerStore,
  type PoolPace,
  type SeenWorkerState,
  type WorkerFilter,
  type WorkerRegistration,
  type WorkerReport,
  type WorkerRecord,
  type WorkerState,
} from './worker.store';
