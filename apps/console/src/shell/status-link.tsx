import type { ReactNode } from 'react';

/** To the status page of the service, which answers also while its database is away. */
export function StatusLink(): ReactNode {
  return (
    <a href="/status" target="_blank" rel="noreferrer">
      Status of the service
    </a>
  );
}
