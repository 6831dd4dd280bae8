export { CatalogueReader } from './catalogue-reader';
export { CatalogueStore } from './catalogue.store';
export { type Deployment, type DeploymentDraft } from './deployment';
export { DeploymentStore } from './deployment.store';
export { DeploymentsService, noDeployment } from './deployments.service';
export { engineClassOf, type EngineClass } from './engine-class';
export { poolName } from './pool-name';
export { PoolStore } from './pool.store';
export { RetireSilentWorkersLoop } from './retire-silent-workers.loop';
export { SweepCataloguesLoop } from './sweep-catalogues.loop';
export { SweepStoppedWorkersLoop } from './sweep-stopped-workers.loop';
export { Targets, type Target } from './targets';
export {
  SEEN_WORKER_STATES,
  WORKER_SILENCE_SECONDS,
  WorkerStore,
  type PoolPace,
  type WorkerRecord,
  type WorkerState,
} from './worker.store';
