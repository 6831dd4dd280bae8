import { useSyncExternalStore } from 'react';

const narrow = window.matchMedia('(max-width: 760px)');

/** Whether the window is as narrow as a phone: the same width at which the styles change. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    (read) => {
      narrow.addEventListener('change', read);
      return () => narrow.removeEventListener('change', read);
    },
    () => narrow.matches,
  );
}
