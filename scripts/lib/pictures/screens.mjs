/**
 * A screen of the console: its route, as router.tsx has it, and the address that shows it. `reads`: the requests that fail in its picture of an
 * error; absent where it reads nothing of an account.
 *
 * @typedef {{ name: string, route: string, path: (job: string) => string, reads?: string }} Screen
 */

/** Every screen; a test holds the list equal to the routes. @type {readonly Screen[]} */
export const SCREENS = [
  { name: 'jobs', route: '/jobs', path: () => '/jobs', reads: '**/api/v2/jobs?*' },
  { name: 'job', route: '/jobs/$jobId', path: (job) => `/jobs/${job}`, reads: '**/api/v2/jobs/*' },
  { name: 'playground', route: '/new', path: (job) => `/new?from=${job}`, reads: '**/api/v2/node-classes*' },
  { name: 'assets', route: '/assets', path: () => '/assets', reads: '**/api/v2/assets*' },
  { name: 'deployments', route: '/deployments', path: () => '/deployments', reads: '**/platform/v1/deployments*' },
  { name: 'usage', route: '/usage', path: () => '/usage', reads: '**/platform/v1/usage*' },
  { name: 'keys', route: '/keys', path: () => '/keys', reads: '**/platform/v1/api-keys*' },
  { name: 'account', route: '/account', path: () => '/account', reads: '**/platform/v1/account' },
  { name: 'docs', route: '/docs/$', path: () => '/docs/api-guide' },
];
