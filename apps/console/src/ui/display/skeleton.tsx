import type { ReactNode } from 'react';
import './skeleton.css';

/** Lines in place of what is being read: nothing jumps when it arrives. */
export function Skeleton({ lines = 3 }: { lines?: number }): ReactNode {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} />
      ))}
    </div>
  );
}
