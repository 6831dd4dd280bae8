export { CatalogueReader } from './catalogue-reader';
export { CatalogueStore, type StoredCatalogue } from './catalogue.store';
export { poolName } from './pool-name';
export { PoolStore, type Pool, type PoolDeployment } from './pool.store';
export { RetireSilentWorkersLoop } from './retire-silent-workers.loop';
export { Targets, type Target } from './targets';
export {
  WORKER_SILENCE_SECONDS,
  WORKER_STATES,
  WorkerStore,
  type WorkerRegistration,
  type WorkerReport,
  type WorkerState,
} from './worker.store';
