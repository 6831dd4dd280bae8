import { Refusal } from '@millrace/contracts';

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

/**
 * The refusal of one more version.
 *
 * @param beside the number of the one beside the deployment's own; null where it is not known.
 */
export function twoAreLive(beside: number | null): Refusal {
  const which = beside === null ? 'another one' : `version ${beside}`;
  return new Refusal('deployment_busy', `This deployment has two live versions already: end ${which} first.`);
}
