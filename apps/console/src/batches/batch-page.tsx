import { useMemo, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import type { BatchView } from '@millrace/contracts';
import { batchQuery } from '../api/batches';
import { Page } from '../shell/page';
import { useSession } from '../shell/session-context';
import { CopyButton } from '../ui/controls/copy-button';
import { Icon } from '../ui/controls/icon';
import { ErrorNote } from '../ui/display/error-note';
import { Fact, Facts } from '../ui/display/facts';
import { Skeleton } from '../ui/display/skeleton';
import { Ago } from '../ui/display/time';
import { formatCredits, shortId } from '../ui/format';
import { BatchActions } from './batch-actions';
import { BatchJobs } from './batch-jobs';
import { BatchProgress, BatchSign } from './batch-progress';
import { searchOf } from './batch-search';
import './batches.css';

const route = getRouteApi('/batches/$batchId');

/** One batch: how far it is and what it costs, what can be done with it, and its jobs. */
export function BatchPage(): ReactNode {
  const { batchId } = route.useParams();
  const { status, deployment } = route.useSearch();
  const place = useMemo(() => ({ id: batchId, deployment }), [batchId, deployment]);
  const mayWrite = useSession().may('jobs:write');
  const query = useQuery(batchQuery(place));
  const batch = query.data;
  return (
    <Page
      title={`Batch ${shortId(batchId)}`}
      above={
        <Link to="/batches" search={searchOf(deployment)} className="back">
          <Icon name="left" size={14} />
          Batches
        </Link>
      }
      beside={batch && <BatchSign batch={batch} />}
      actions={batch && <BatchActions batch={batch} place={place} mayWrite={mayWrite} />}
    >
      {query.isError && <ErrorNote error={query.error} onRetry={() => query.refetch()} />}
      {query.isPending && <Skeleton lines={6} />}
      {batch && (
        <>
          <BatchFacts batch={batch} />
          <BatchJobs batch={batch} place={place} status={status} />
        </>
      )}
    </Page>
  );
}

function BatchFacts({ batch }: { batch: BatchView }): ReactNode {
  const { counts } = batch;
  const ended = counts.succeeded + counts.failed + counts.canceled + counts.expired;
  return (
    <div className="panel record-facts">
      <div className="copy-line">
        <code>{batch.id}</code>
        <CopyButton text={batch.id} label="Copy the id" />
      </div>
      <BatchProgress batch={batch} />
      <Facts>
        <Fact name="Ended" lead>
          {ended} of {batch.job_count}
        </Fact>
        {batch.charged_micros !== undefined && (
          <Fact name="Credits" lead>
            {formatCredits(batch.charged_micros)}
          </Fact>
        )}
        <Fact name="Submitted">
          <Ago at={batch.created_at} />
        </Fact>
        {batch.completed_at !== null && (
          <Fact name="Completed">
            <Ago at={batch.completed_at} />
          </Fact>
        )}
        {batch.retry_count > 0 && (
          <Fact name="Tried again">{batch.retry_count === 1 ? 'once' : `${batch.retry_count} times`}</Fact>
        )}
        {batch.refused_count > 0 && <Fact name="Not accepted">{batch.refused_count}</Fact>}
        <Fact name="Kept until">
          <Ago at={batch.expires_at} />
        </Fact>
      </Facts>
      {batch.refused.length > 0 && (
        <details className="small">
          <summary>
            {batch.refused_truncated ? 'Why the first of the jobs were not accepted' : 'Why jobs were not accepted'}
          </summary>
          <ul className="batch-refused">
            {batch.refused.map(({ index, message }) => (
              <li key={index}>
                Job {index}: {message}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
