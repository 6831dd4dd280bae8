import type { ReactNode } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ledgerQuery, type LedgerKind, type LedgerTransaction } from '../api/credits';
import { Button } from '../ui/controls/button';
import { CopyButton } from '../ui/controls/copy-button';
import { ErrorNote } from '../ui/display/error-note';
import { formatExactCredits, shortId } from '../ui/format';
import { Skeleton } from '../ui/display/skeleton';
import { Ago } from '../ui/display/time';

const KINDS: Record<LedgerKind, string> = {
  grant: 'Granted',
  top_up: 'Bought',
  hold: 'Held for a job',
  extend_hold: 'Held longer for a job',
  settle: 'Charged for a job',
  release: 'Released: the job was not charged',
  expire: 'Expired',
  correction: 'Corrected',
};

/** Every movement of the account's credits, newest first. */
export function Ledger(): ReactNode {
  const list = useInfiniteQuery(ledgerQuery);
  const transactions = list.data?.pages.flatMap((page) => page.transactions) ?? [];
  return (
    <section className="panel" aria-labelledby="ledger">
      <div className="panel-head">
        <h2 id="ledger">Ledger</h2>
        <Button busy={list.isFetching} onClick={() => void list.refetch()}>
          Read again
        </Button>
      </div>
      {list.isPending && <Skeleton lines={5} />}
      {list.isError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isSuccess && transactions.length === 0 && (
        <p className="table-note soft">No credits were granted, bought or used yet.</p>
      )}
      {transactions.length > 0 && <Lines transactions={transactions} />}
      {list.hasNextPage && (
        <div className="table-note">
          <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
            Earlier ones
          </Button>
        </div>
      )}
    </section>
  );
}

function Lines({ transactions }: { transactions: LedgerTransaction[] }): ReactNode {
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label="Lines of the ledger">
      <div role="table" aria-label="Ledger" className="ledger">
        <div className="record ledger-line head" role="row">
          {['What', 'For', 'Available', 'Held', 'When'].map((name) => (
            <span key={name} role="columnheader">
              {name}
            </span>
          ))}
        </div>
        {transactions.map(({ id, at, kind, job_id: job, reason, available_micros, held_micros }) => (
          <div key={id} className="record ledger-line" role="row">
            <span role="rowheader">{whatOf(kind, available_micros + held_micros)}</span>
            <span role="cell" className="ledger-cause">
              <Cause job={job} reason={reason} />
            </span>
            <span role="cell" className="number" data-name="Available">
              {formatChange(available_micros)}
            </span>
            <span role="cell" className="number" data-name="Held">
              {formatChange(held_micros)}
            </span>
            <span role="cell" className="soft ledger-when">
              <Ago at={at} />
            </span>
          </div>
        ))}
      </div>
    </div>
  );
}

/** @param changeMicros of available and held together. */
function whatOf(kind: LedgerKind, changeMicros: number): string {
  return kind === 'settle' && changeMicros === 0 ? 'Released: the job cost nothing' : KINDS[kind];
}

/** The job, or what the operator wrote. */
function Cause({ job, reason }: { job: string | null; reason: string | null }): ReactNode {
  if (job === null) return reason;
  return (
    <>
      <Link to="/jobs/$jobId" params={{ jobId: job }} className="mono" title={job}>
        {shortId(job)}
      </Link>
      <CopyButton text={job} label={`Copy the id of job ${shortId(job)}`} />
    </>
  );
}

/** With its sign: these are changes. */
function formatChange(micros: number): string {
  return micros === 0 ? '–' : `${micros > 0 ? '+' : ''}${formatExactCredits(micros)}`;
}
