import type { ReactNode } from 'react';
import { useNow } from '../../../src/ui/display/time';

interface Read {
  dataUpdatedAt: number;
  isError: boolean;
}

/** How old what is shown is: the oldest of its readings. Without it a screen that stands still looks like a calm service. */
export function Updated({ of }: { of: readonly Read[] }): ReactNode {
  const now = useNow();
  const at = Math.min(...of.map(({ dataUpdatedAt }) => dataUpdatedAt));
  if (at === 0) return null;
  const seconds = Math.max(0, Math.round((now - at) / 1_000));
  const failed = of.some(({ isError }) => isError);
  return (
    <span className={`small number ${failed ? 'updated-late' : 'faint'}`}>
      Updated {seconds} s ago{failed && ': the service does not answer'}
    </span>
  );
}
