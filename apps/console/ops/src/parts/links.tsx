import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import { shortId } from '../../../src/ui/format';

/** A job by its id. */
export function JobLink({ id }: { id: string }): ReactNode {
  return (
    <Link to="/jobs/$jobId" params={{ jobId: id }} className="mono" title={id}>
      {shortId(id)}
    </Link>
  );
}

/** An account by its id. */
export function AccountLink({ id }: { id: string }): ReactNode {
  return (
    <Link to="/accounts/$accountId" params={{ accountId: id }} className="mono" title={id}>
      {shortId(id)}
    </Link>
  );
}

/** The workers of a pool. */
export function PoolLink({ id }: { id: string }): ReactNode {
  return (
    <Link to="/workers" search={{ pool: id }} title={id}>
      {id.length > 20 ? shortId(id) : id}
    </Link>
  );
}
