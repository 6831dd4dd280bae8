import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { readAssetsSearch } from './assets/assets-search';
import { readBatchesSearch, readBatchSearch } from './batches/batch-search';
import { JobsPage, readJobsSearch } from './jobs';
import { readJobSearch } from './job/job-search';
import { readPlaygroundSearch } from './playground/playground-search';
import { NotFound, RouteError, Shell, Start } from './shell';
import { readUsageSearch } from './usage/usage-search';
import { readWebhookSearch } from './webhooks/webhook-search';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: RouteError });
const getParentRoute = (): typeof root => root;

const index = createRoute({
  getParentRoute,
  path: '/',
  component: Start,
});

const jobs = createRoute({ getParentRoute, path: '/jobs', validateSearch: readJobsSearch, component: JobsPage });

const job = createRoute({
  getParentRoute,
  path: '/jobs/$jobId',
  validateSearch: readJobSearch,
  component: lazyRouteComponent(() => import('./job'), 'JobPage'),
});

const batches = createRoute({
  getParentRoute,
  path: '/batches',
  validateSearch: readBatchesSearch,
  component: lazyRouteComponent(() => import('./batches'), 'BatchesPage'),
});

const batch = createRoute({
  getParentRoute,
  path: '/batches/$batchId',
  validateSearch: readBatchSearch,
  component: lazyRouteComponent(() => import('./batches'), 'BatchPage'),
});

const playground = createRoute({
  getParentRoute,
  path: '/new',
  validateSearch: readPlaygroundSearch,
  remountDeps: ({ search }) => search,
  component: lazyRouteComponent(() => import('./playground'), 'PlaygroundPage'),
});

const assets = createRoute({
  getParentRoute,
  path: '/assets',
  validateSearch: readAssetsSearch,
  component: lazyRouteComponent(() => import('./assets'), 'AssetsPage'),
});

const models = createRoute({
  getParentRoute,
  path: '/models',
  component: lazyRouteComponent(() => import('./models'), 'ModelsPage'),
});

const deployments = createRoute({
  getParentRoute,
  path: '/deployments',
  component: lazyRouteComponent(() => import('./deployments'), 'DeploymentsPage'),
});

const usage = createRoute({
  getParentRoute,
  path: '/usage',
  validateSearch: readUsageSearch,
  component: lazyRouteComponent(() => import('./usage'), 'UsagePage'),
});

const keys = createRoute({
  getParentRoute,
  path: '/keys',
  component: lazyRouteComponent(() => import('./keys'), 'KeysPage'),
});

const members = createRoute({
  getParentRoute,
  path: '/members',
  component: lazyRouteComponent(() => import('./members'), 'MembersPage'),
});

const webhooks = createRoute({
  getParentRoute,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./webhooks'), 'WebhooksPage'),
});

const webhook = createRoute({
  getParentRoute,
  path: '/webhooks/$endpointId',
  validateSearch: readWebhookSearch,
  component: lazyRouteComponent(() => import('./webhooks'), 'WebhookPage'),
});

const account = createRoute({
  getParentRoute,
  path: '/account',
  component: lazyRouteComponent(() => import('./account'), 'AccountPage'),
});

const docs = createRoute({
  getParentRoute,
  path: '/docs/$',
  // Its contents and its search stay beside each page.
  remountDeps: () => null,
  component: lazyRouteComponent(() => import('./docs'), 'DocsScreen'),
});

export const router = createRouter({
  routeTree: root.addChildren([
    index,
    jobs,
    job,
    batches,
    batch,
    playground,
    assets,
    models,
    deployments,
    usage,
    webhooks,
    webhook,
    keys,
    members,
    account,
    docs,
  ]),
  basepath: '/console',
  // Of a screen: what is around it stays.
  defaultErrorComponent: RouteError,
  // The screen of another record starts from its beginning: nothing that was seen or asked of the record before stays on it.
  defaultRemountDeps: ({ params }) => params,
  defaultPreload: 'intent',
  scrollRestoration: false,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
