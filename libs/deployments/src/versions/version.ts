/** The pool of each version of a deployment but the first, which has the pool of the deployment's name. */
const LATER_POOL = /-v(\d{1,9})$/;

/** The pool in which the jobs of a version run. No other version ever has it. */
export function poolOfVersion(deploymentId: string, version: number): string {
  return version === 1 ? deploymentId : `${deploymentId}-v${version}`;
}

/** The version of a deployment whose pool this is. */
export function versionOfPool(poolId: string): number {
  return Number(LATER_POOL.exec(poolId)?.[1] ?? 1);
}
