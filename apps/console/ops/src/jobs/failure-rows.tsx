import type { ReactNode } from 'react';
import { Ago } from '../../../src/ui/display/time';
import type { Failure } from '../api/jobs';
import { AccountLink, JobLink, PoolName } from '../parts/links';
import { Rows, type Column } from '../parts/rows';

const COLUMNS: readonly Column<Failure>[] = [
  { name: 'Job', cell: ({ id }) => <JobLink id={id} /> },
  {
    name: 'Error',
    cell: ({ error }) =>
      error === null ? (
        <span className="faint">None was recorded</span>
      ) : (
        <span className="stack">
          <code>{error.code}</code>
          <span className="clip small soft" title={error.message}>
            {error.message}
          </span>
        </span>
      ),
  },
  { name: 'Pool', cell: ({ pool }) => <PoolName id={pool} /> },
  { name: 'Account', cell: ({ account_id }) => <AccountLink id={account_id} /> },
  { name: 'Attempts', right: true, cell: ({ attempts }) => attempts },
  { name: 'Failed', right: true, cell: ({ completed_at, created_at }) => <Ago at={completed_at ?? created_at} /> },
];

/** Jobs that failed. */
export function FailureRows(props: {
  failures: readonly Failure[];
  more?: { has: boolean; loading: boolean; failed: boolean; load: () => void };
}): ReactNode {
  const { failures, more } = props;
  return (
    <Rows
      label="Failed jobs"
      kind="failures"
      rows={failures}
      keyOf={({ id }) => id}
      columns={COLUMNS}
      {...(more === undefined ? {} : { more })}
    />
  );
}
