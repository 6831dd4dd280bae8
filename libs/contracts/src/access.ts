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

/** What a request for erasure may be about. */
export const ERASURE_SUBJECTS = ['job', 'label', 'account'] as const;
export type ErasureSubjectKind = (typeof ERASURE_SUBJECTS)[number];

/** What is to be erased: a job, all that carries a label with this value, or an account with all that it has. */
export type ErasureSubject =
  | { readonly kind: 'job'; readonly jobId: string }
  | { readonly kind: 'label'; readonly label: string; readonly value: string }
  | { readonly kind: 'account' };

export const ERASURE_STATES = ['requested', 'running', 'done'] as const;
export type ErasureState = (typeof ERASURE_STATES)[number];
