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
