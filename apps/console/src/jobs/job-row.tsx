import type { ReactNode } from 'react';
import { Link } from '@tanstack/react-router';
import type { JobListItem } from '@millrace/contracts';
import { formatCredits, formatDuration, shortId } from '../ui/format';
import { JobStatusSign } from '../ui/display/status';
import { Ago, useNow } from '../ui/display/time';
import { JobResult } from './job-result';

interface JobRowProps {
  job: JobListItem;
  index: number;
  /** Where the row stands in the list. */
  offsetPx: number;
  deployment: string | undefined;
  selected: boolean;
  onSelect: (selected: boolean) => void;
}

/** A job as a line of the list; the whole line leads to it. */
export function JobRow({ job, index, offsetPx, deployment, selected, onSelect }: JobRowProps): ReactNode {
  const ended = job.completed_at !== null;
  const charged = job.metrics['charged_micros'];
  return (
    <div
      className="job-row"
      role="row"
      aria-rowindex={index + 1}
      data-selected={selected}
      style={{ transform: `translateY(${offsetPx}px)` }}
    >
      <span role="cell" className="job-select">
        {!ended && (
          <label className="job-check">
            <input
              type="checkbox"
              aria-label={`Select job ${job.id}`}
              checked={selected}
              onChange={(event) => onSelect(event.target.checked)}
            />
          </label>
        )}
      </span>
      <span role="cell" className="job-status">
        <JobStatusSign status={job.status} />
      </span>
      <span role="cell" className="job-name clip">
        <Link
          to="/jobs/$jobId"
          params={{ jobId: job.id }}
          search={deployment === undefined ? {} : { deployment }}
          className="mono job-link"
          title={job.id}
        >
          {shortId(job.id)}
        </Link>
        {Object.entries(job.metadata).map(([key, value]) => (
          <span key={key} className="label mono" title={`${key}=${value}`}>
            {key}={value}
          </span>
        ))}
      </span>
      <span role="cell" className="job-result">
        <JobResult job={job} />
      </span>
      <span role="cell" className="right number job-ran">
        <RanFor job={job} />
      </span>
      <span role="cell" className="right number job-cost soft">
        {typeof charged === 'number' ? formatCredits(charged) : '–'}
      </span>
      <span role="cell" className="right soft job-age">
        <Ago at={job.created_at} />
      </span>
    </div>
  );
}

function RanFor({ job }: { job: JobListItem }): ReactNode {
  const now = useNow();
  if (job.metrics.execution_ms !== null) return formatDuration(job.metrics.execution_ms);
  if (job.started_at === null || job.completed_at !== null) return <span className="faint">–</span>;
  return formatDuration(Math.max(0, Math.floor((now - Date.parse(job.started_at)) / 1_000) * 1_000));
}
