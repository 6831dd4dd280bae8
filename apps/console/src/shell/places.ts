import type { IconName } from '../ui/controls/icon';
import { isOpen, type Demands } from './access';
import { useSession } from './session-context';

interface Place extends Demands {
  to:
    | '/jobs'
    | '/batches'
    | '/new'
    | '/assets'
    | '/models'
    | '/deployments'
    | '/usage'
    | '/webhooks'
    | '/keys'
    | '/members'
    | '/account'
    | '/docs/$';
  label: string;
  icon: IconName;
}

const PLACES: readonly Place[] = [
  { to: '/jobs', label: 'Jobs', icon: 'jobs', scope: 'jobs:read' },
  { to: '/batches', label: 'Batches', icon: 'batches', scope: 'jobs:read' },
  { to: '/new', label: 'New job', icon: 'plus', scope: 'jobs:write' },
  { to: '/assets', label: 'Assets', icon: 'assets', scope: 'assets:read' },
  { to: '/models', label: 'Models', icon: 'models', scope: 'assets:read' },
  { to: '/deployments', label: 'Deployments', icon: 'deployments', scope: 'jobs:read' },
  { to: '/usage', label: 'Usage', icon: 'usage', scope: 'usage:read' },
  { to: '/webhooks', label: 'Webhooks', icon: 'webhooks', scope: 'webhooks:read' },
  { to: '/keys', label: 'API keys', icon: 'keys', scope: 'keys:admin' },
  { to: '/members', label: 'Members', icon: 'people', keyed: true },
  { to: '/account', label: 'Account', icon: 'limits' },
  { to: '/docs/$', label: 'Docs', icon: 'docs' },
];

/** Where the session can go: the navigation and the palette show the same. */
export function usePlaces(): Place[] {
  const { key } = useSession();
  return PLACES.filter((place) => isOpen(place, key));
}
