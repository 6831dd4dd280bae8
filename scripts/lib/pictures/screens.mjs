/** What the screens of one thing show. @typedef {{ account: string, job: string, batch: string, endpoint: string }} Subject ids */
/**
 * A screen of a console: its route, as the console's router has it, and the address that shows it. `reads`: the requests that fail in
 * its picture of an error; absent where it reads nothing of an account.
 *
 * @typedef {{ name: string, route: string, path: (of: Subject) => string, reads?: string }} Screen
 */

/** Every screen of the account's console; a test holds the list equal to the routes. @type {readonly Screen[]} */
export const SCREENS = [
  { name: 'jobs', route: '/jobs', path: () => '/jobs', reads: '**/api/v2/jobs?*' },
  { name: 'job', route: '/jobs/$jobId', path: ({ job }) => `/jobs/${job}`, reads: '**/api/v2/jobs/*' },
  { name: 'batches', route: '/batches', path: () => '/batches', reads: '**/api/v2/batches?*' },
  {
    name: 'batch',
    route: '/batches/$batchId',
    path: ({ batch }) => `/batches/${batch}`,
    reads: '**/api/v2/batches/*/jobs*',
  },
  { name: 'playground', route: '/new', path: ({ job }) => `/new?from=${job}`, reads: '**/api/v2/node-classes*' },
  { name: 'assets', route: '/assets', path: () => '/assets', reads: '**/api/v2/assets*' },
  { name: 'models', route: '/models', path: () => '/models', reads: '**/platform/v1/models*' },
  { name: 'deployments', route: '/deployments', path: () => '/deployments', reads: '**/platform/v1/deployments*' },
  { name: 'usage', route: '/usage', path: () => '/usage', reads: '**/platform/v1/usage*' },
  { name: 'webhooks', route: '/webhooks', path: () => '/webhooks', reads: '**/platform/v1/webhook-endpoints*' },
  {
    name: 'webhook',
    route: '/webhooks/$endpointId',
    path: ({ endpoint }) => `/webhooks/${endpoint}`,
    reads: '**/platform/v1/webhook-endpoints/*/messages*',
  },
  { name: 'keys', route: '/keys', path: () => '/keys', reads: '**/platform/v1/api-keys*' },
  { name: 'members', route: '/members', path: () => '/members', reads: '**/platform/v1/members*' },
  { name: 'account', route: '/account', path: () => '/account', reads: '**/platform/v1/account' },
  { name: 'docs', route: '/docs/$', path: () => '/docs/api-guide' },
];

/** Every screen of the operators' console; the same test holds it. @type {readonly Screen[]} */
export const OPERATOR_SCREENS = [
  { name: 'ops-overview', route: '/', path: () => '/', reads: '**/admin/v1/queues*' },
  { name: 'ops-workers', route: '/workers', path: () => '/workers', reads: '**/admin/v1/workers*' },
  { name: 'ops-pools', route: '/pools', path: () => '/pools', reads: '**/admin/v1/pools*' },
  { name: 'ops-jobs', route: '/jobs', path: () => '/jobs', reads: '**/admin/v1/failures*' },
  { name: 'ops-job', route: '/jobs/$jobId', path: ({ job }) => `/jobs/${job}`, reads: '**/admin/v1/jobs/*' },
  { name: 'ops-accounts', route: '/accounts', path: () => '/accounts', reads: '**/admin/v1/accounts*' },
  {
    name: 'ops-account',
    route: '/accounts/$accountId',
    path: ({ account }) => `/accounts/${account}`,
    reads: '**/admin/v1/accounts/*',
  },
  { name: 'ops-deployments', route: '/deployments', path: () => '/deployments', reads: '**/admin/v1/deployments*' },
  { name: 'ops-operators', route: '/operators', path: () => '/operators', reads: '**/admin/v1/operator-tokens*' },
];
