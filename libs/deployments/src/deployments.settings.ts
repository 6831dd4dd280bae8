import { integer, setting } from '@millrace/platform';

/** What accounts may make of deployments, where they have no limits of their own. */
export const deploymentSettings = {
  deploymentLimitPerAccount: setting(
    'DEPLOYMENT_LIMIT_PER_ACCOUNT',
    'Deployments that an account may make itself, where it has no limit of its own. 0: only operators make deployments.',
    integer({ min: 0, max: 10_000 }).default(0),
  ),
  deploymentWorkerLimitPerAccount: setting(
    'DEPLOYMENT_WORKER_LIMIT_PER_ACCOUNT',
    'Workers that all deployments of an account together may have at most, where it has no limit of its own. Operators may exceed it.',
    integer({ min: 0, max: 100_000 }).default(4),
  ),
};
