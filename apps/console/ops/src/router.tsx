import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { OverviewPage } from './overview/overview-page';
import { RouteError } from '../../src/shell/route-error';
import { NotFound } from './shell/route-fallbacks';
import { Shell } from './shell/shell';
import { readWorkersSearch } from './workers/workers-search';

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound, errorComponent: RouteError });
const getParentRoute = (): typeof root => root;

const overview = createRoute({ getParentRoute, path: '/', component: OverviewPage });

const workers = createRoute({
  getParentRoute,
  path: '/workers',
  validateSearch: readWorkersSearch,
  component: lazyRouteComponent(() => import('./workers/workers-page'), 'WorkersPage'),
});

const pools = createRoute({
  getParentRoute,
  path: '/pools',
  component: lazyRouteComponent(() => import('./pools/pools-page'), 'PoolsPage'),
});

const jobs = createRoute({
  getParentRoute,
  path: '/jobs',
  component: lazyRouteComponent(() => import('./jobs/jobs-page'), 'JobsPage'),
});

const job = createRoute({
  getParentRoute,
  path: '/jobs/$jobId',
  component: lazyRouteComponent(() => import('./jobs/job-page'), 'JobPage'),
});

const accounts = createRoute({
  getParentRoute,
  path: '/accounts',
  component: lazyRouteComponent(() => import('./accounts/accounts-page'), 'AccountsPage'),
});

const account = createRoute({
  getParentRoute,
  path: '/accounts/$accountId',
  component: lazyRouteComponent(() => import('./accounts/account-page'), 'AccountPage'),
});

const deployments = createRoute({
  getParentRoute,
  path: '/deployments',
  component: lazyRouteComponent(() => import('./deployments/deployments-page'), 'DeploymentsPage'),
});

const operators = createRoute({
  getParentRoute,
  path: '/operators',
  component: lazyRouteComponent(() => import('./operators/operators-page'), 'OperatorsPage'),
});

export const router = createRouter({
  routeTree: root.addChildren([overview, workers, pools, jobs, job, accounts, account, deployments, operators]),
  basepath: '/console/ops',
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
