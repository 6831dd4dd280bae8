import type { IconName } from '../ui/icon';

interface Place {
  to: '/jobs' | '/new';
  label: string;
  icon: IconName;
}

/** Where one can go: the navigation and the palette show the same. */
export const PLACES: readonly Place[] = [
  { to: '/jobs', label: 'Jobs', icon: 'jobs' },
  { to: '/new', label: 'New job', icon: 'plus' },
];
