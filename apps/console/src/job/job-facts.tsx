import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Job } from '@millrace/contracts';
import { isEnded } from '../api/job-facts';
import { jobStandingQuery } from '../api/jobs';
import { Fact, Facts } from '../ui/display/facts';
import { formatCredits, formatDuration, shortId } from '../ui/format';
import { Ago, useNow } from '../ui/display/time';

/** A job's figures: its place, its times, its cost, its labels. */
export function JobFacts({ job, deployment }: { job: Job; deployment: string | undefined }): ReactNode {
  const { queue_ms, execution_ms, estimated_wait_ms: waitMs, charged_micros: charged } = job.metrics;
  const now = useNow();
  const startedMs = job.started_at === null ? null : Date.parse(job.started_at);
  const ranMs = execution_ms ?? (startedMs === null || job.completed_at !== null ? null : Math.max(0, now - startedMs));
  const labels = Object.entries(job.metadata);
  const mayWait = !isEnded(job.status);
  const standing = useQuery({ ...jobStandingQuery({ id: job.id, deployment }), enabled: mayWait });
  const waiting = mayWait ? (standing.data?.waiting_reason ?? null) : null;
  return (
    <Facts>
      {job.status === 'queued' && (
        <Fact name="Position in the queue" lead>
          {job.queue_position ?? 'not known'}
        </Fact>
      )}
      {job.status === 'queued' && (
        <Fact name="Starts in about" lead>
          {typeof waitMs === 'number' ? formatDuration(Math.max(1_000, waitMs)) : 'no estimate yet'}
        </Fact>
      )}
      {waiting !== null && <Fact name="Why it waits">{waiting.message}</Fact>}
      {job.reused_from !== undefined && (
        <Fact name="Reused from" lead>
          {job.reused_from === null ? (
            'an earlier job'
          ) : (
            <Link
              to="/jobs/$jobId"
              params={{ jobId: job.reused_from }}
              search={deployment === undefined ? {} : { deployment }}
              title="This job did not run: it has the outputs of the job that asked for exactly the same"
            >
              job {shortId(job.reused_from)}
            </Link>
          )}
        </Fact>
      )}
      <Fact name="Submitted">
        <Ago at={job.created_at} />
      </Fact>
      {queue_ms !== null && <Fact name="Waited">{formatDuration(queue_ms)}</Fact>}
      {ranMs !== null && (
        <Fact name="Ran for">{formatDuration(execution_ms ?? Math.floor(ranMs / 1_000) * 1_000)}</Fact>
      )}
      {charged !== undefined && (
        <Fact name="Cost">{charged === null ? 'open until it ends' : `${formatCredits(charged)} credits`}</Fact>
      )}
      <Fact name="Kept until">
        <Ago at={job.expires_at} />
      </Fact>
      {deployment !== undefined && (
        <Fact name="Deployment">
          <span className="mono">{deployment}</span>
        </Fact>
      )}
      {labels.length > 0 && (
        <Fact name="Labels">
          <span className="labels">
            {labels.map(([key, value]) => (
              <span key={key} className="label mono">
                {key}={value}
              </span>
            ))}
          </span>
        </Fact>
      )}
      <Fact name="Id">
        <span className="mono small">{job.id}</span>
      </Fact>
    </Facts>
  );
}
