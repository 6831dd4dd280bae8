export { deploymentOfPool, deploymentPools, isStoppedPool, versionOfJob } from './deployment-pools.store';
export {
  DeploymentVersionStore,
  type EndedVersion,
  type VersionActor,
  type VersionDraft,
} from './deployment-version.store';
export { pickVersions } from './pick-version';
export { twoAreLive, versionOfPool } from './version';
