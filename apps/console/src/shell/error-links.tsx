import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';

/** To the page of errors, at a code. */
export function ErrorDocsLink({ code }: { code: string }): ReactNode {
  return (
    <Link to="/docs/$" params={{ _splat: 'errors' }} hash={code}>
      What this means
    </Link>
  );
}

/** To the status page of the service, which answers also while its database is away. */
export function StatusLink(): ReactNode {
  return (
    <a href="/status" target="_blank" rel="noreferrer">
      Status of the service
    </a>
  );
}
