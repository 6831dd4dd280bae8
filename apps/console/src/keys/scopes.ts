import type { Scope } from '@millrace/contracts';

/** What each scope allows. The types refuse a list that differs from the contract's. */
export const SCOPE_TEXTS: Record<Scope, string> = {
  'jobs:read': 'Read jobs, their outputs and events, and deployments',
  'jobs:write': 'Submit and cancel jobs',
  'assets:read': 'Read files',
  'assets:write': 'Upload and delete files',
  'usage:read': 'Read limits, usage and credits',
  'credits:write': 'Buy credits',
  'deployments:write': 'Make, change and delete deployments',
  'webhooks:read': 'Read webhook endpoints and what was sent to them',
  'webhooks:write': 'Make, change and delete webhook endpoints',
  'keys:admin': 'Manage API keys: make, rotate and revoke them',
};

export const ALL_SCOPES = Object.keys(SCOPE_TEXTS) as Scope[];

/** What a program needs that runs jobs: chosen when a key is made, unless a person chooses otherwise. */
export const USUAL_SCOPES: readonly Scope[] = ['jobs:read', 'jobs:write', 'assets:read', 'assets:write'];
