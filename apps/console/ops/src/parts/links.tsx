import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { shortId } from '../../../src/ui/format';
import { holderOf, poolsQuery } from '../api/pools';

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

/** A pool, and whose it is below its id: of a deployment the id alone says nothing. */
export function PoolName({ id }: { id: string }): ReactNode {
  const { data: pool } = useQuery({ ...poolsQuery, select: (pools) => pools.find((known) => known.id === id) });
  const holder = pool === undefined ? null : holderOf(pool);
  return (
    <div className="stack">
      <PoolLink id={id} />
      {holder !== null && pool?.account_id && (
        <Link to="/accounts/$accountId" params={{ accountId: pool.account_id }} className="small soft">
          {holder}
        </Link>
      )}
    </div>
  );
}
