import type { IconName } from '../../../src/ui/controls/icon';

interface Place {
  to: '/' | '/workers' | '/pools' | '/jobs' | '/accounts' | '/deployments' | '/operators';
  label: string;
  icon: IconName;
}

/** The screens, in the order in which an operator looks. */
export const PLACES: readonly Place[] = [
  { to: '/', label: 'Overview', icon: 'limits' },
  { to: '/workers', label: 'Workers', icon: 'again' },
  { to: '/pools', label: 'Pools', icon: 'usage' },
  { to: '/jobs', label: 'Jobs', icon: 'jobs' },
  { to: '/accounts', label: 'Accounts', icon: 'person' },
  { to: '/deployments', label: 'Deployments', icon: 'deployments' },
  { to: '/operators', label: 'Operators', icon: 'keys' },
];
