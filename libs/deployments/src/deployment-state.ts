import type { DeploymentState } from '@millrace/contracts';

/** What a deployment's state is derived from: what its operator wants, and what its workers are heard to do. */
export interface DeploymentFacts {
  desiredState: 'running' | 'stopped';
  /** Workers to be kept when there is no work; with 0 the deployment may be without any. */
  minWorkers: number;
  /** A worker has belonged to it at some time. */
  everServed: boolean;
  /** Workers that are ready and were heard of lately. */
  readyWorkers: number;
  /** A worker has been ready since the last start, and the last of them to go said so: none was lost. */
  wentInOrder: boolean;
}

/**
 * The state of a deployment: `provisioning → starting → ready ⇄ starting`, and `stopped` from any of them until an operator
 * starts it. A deployment that was scaled to nothing in good order (`minWorkers` 0) is still ready: it takes jobs, and they
 * bring its workers back. One whose last worker was lost is starting.
 */
export function deploymentState(facts: DeploymentFacts): DeploymentState {
  if (facts.desiredState === 'stopped') return 'stopped';
  if (facts.readyWorkers > 0 || isIdle(facts)) return 'ready';
  return facts.everServed ? 'starting' : 'provisioning';
}

/** True for a deployment that is ready without a worker. */
export function isIdle(facts: DeploymentFacts): boolean {
  return facts.desiredState === 'running' && facts.readyWorkers === 0 && facts.minWorkers === 0 && facts.wentInOrder;
}
