export { CatalogueReader, textOfCatalogue } from './catalogue-reader';
export { CatalogueStore } from './catalogue.store';
export { type Deployment } from './deployment';
export {
  DeploymentLife,
  type Allowance,
  type DeploymentOrder,
  type DeploymentReorder,
} from './deployment-life.service';
export { deploymentOfPool, deploymentPools, isStoppedPool, versionOfJob } from './versions';
export { DeploymentVersionStore, type EndedVersion, type VersionActor } from './versions';
export { DeploymentVersioning, versionsOf, type DeploymentVersions } from './deployment-versions.service';
export { DeploymentLifeStore } from './deployment-life.store';
export { DeploymentStore } from './deployment.store';
export { deploymentSettings } from './deployments.settings';
export { DeploymentsService, noDeployment } from './deployments.service';
export { ENGINE_KINDS, engineClassName, engineClassOf, readEngineClasses, type EngineClass } from './engine-class';
export { EngineClassStore } from './engine-class.store';
export { MeasureWorkersLoop } from './measure-workers.loop';
export {
  DEPLOYMENT_DELETED,
  DEPLOYMENT_DELETING,
  deploymentDeleting,
  openDeploymentPart,
  openDeploymentsPart,
} from './open-deployment.store';
export { poolName } from './pool-name';
export { PoolStore, type ListedPool } from './pool.store';
export { RetireSilentWorkersLoop } from './retire-silent-workers.loop';
export { SweepCataloguesLoop } from './sweep-catalogues.loop';
export { SweepStoppedWorkersLoop } from './sweep-stopped-workers.loop';
export { Targets, type Target, type TargetOptions } from './targets';
export { WorkerTokenStore, WorkerTokens, type WorkerTokenHolder, type WorkerTokenRecord } from './tokens';
export { versionOfPool } from './versions';
export { WARM_UP_BYTES } from './starts';
export { phasesOf, type OwnStart, type PlacedStart, type StartPhase, type WorkerStart } from './starts';
export { WorkerStartStore, type PoolModels, type WarmUp } from './starts';
export {
  SEEN_WORKER_STATES,
  WORKER_SILENCE_SECONDS,
  WorkerStore,
  seenLately,
  type PoolPace,
  type WorkerRecord,
  type WorkerRegistration,
  type WorkerReport,
  type WorkerState,
} from './worker.store';
