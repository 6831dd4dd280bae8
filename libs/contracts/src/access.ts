/** What an API key may do. */
export const SCOPES = [
  'jobs:read',
  'jobs:write',
  'assets:read',
  'assets:write',
  'usage:read',
  'credits:write',
  'deployments:write',
  'webhooks:read',
  'webhooks:write',
  'keys:admin',
] as const;
export type Scope = (typeof SCOPES)[number];

/** The surfaces on which the contract is served (contract, section 1). */
export const SURFACE_KINDS = ['self_hosted', 'cloud', 'deployment'] as const;
export type SurfaceKind = (typeof SURFACE_KINDS)[number];

export const ACCOUNT_STATUSES = ['active', 'suspended'] as const;
export type AccountStatus = (typeof ACCOUNT_STATUSES)[number];

export const DEPLOYMENT_STATES = ['provisioning', 'starting', 'ready', 'stopped'] as const;
export type DeploymentState = (typeof DEPLOYMENT_STATES)[number];
