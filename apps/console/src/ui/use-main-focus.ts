import { useEffect } from 'react';
import { useRouter } from '@tanstack/react-router';

/** After a screen that had the focus has gone, the keyboard goes on in the content of the new one, not at the top of the page. */
export function useMainFocus(): void {
  const router = useRouter();
  useEffect(
    () =>
      router.subscribe('onRendered', ({ fromLocation, pathChanged }) => {
        if (fromLocation === undefined || !pathChanged || document.activeElement !== document.body) return;
        document.getElementById('main')?.focus({ preventScroll: true });
      }),
    [router],
  );
}
