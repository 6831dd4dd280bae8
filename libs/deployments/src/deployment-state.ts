import type { DeploymentState } from '@millrace/contracts';

/** What a deployment's state follows from: what its operator wants, and its workers' heartbeats. */
export interface DeploymentFacts {
  desiredState: 'running' | 'stopped';
  /** Workers that are kept without work; 0: none has to be. */
  minWorkers: number;
  /** Its account is suspended, which keeps no workers without work. */
  ownerSuspended: boolean;
  /** It has had a worker at some time. */
  everServed: boolean;
  /** Workers that are ready and sent a heartbeat lately. */
  readyWorkers: number;
  /** A worker has been ready since the last start, and the last one to stop reported it: it was not lost. */
  wentInOrder: boolean;
}

/**
 * The state of a deployment: `provisioning → starting → ready ⇄ starting`, and `stopped` from any of them until an operator
 * starts it. A deployment that was scaled to zero in good order (`minWorkers` 0) is still ready: it takes jobs, and they
 * bring its workers back. One whose last worker was lost is starting.
 */
export function deploymentState(facts: DeploymentFacts): DeploymentState {
  if (facts.desiredState === 'stopped') return 'stopped';
  if (facts.readyWorkers > 0 || isIdle(facts)) return 'ready';
  return facts.everServed ? 'starting' : 'provisioning';
}

/** True for a deployment that is ready without a worker. */
export function isIdle(facts: DeploymentFacts): boolean {
  const keepsNone = facts.minWorkers === 0 || facts.ownerSuspended;
  return facts.desiredState === 'running' && facts.readyWorkers === 0 && keepsNone && facts.wentInOrder;
}
