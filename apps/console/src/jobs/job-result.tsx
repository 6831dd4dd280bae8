import type { ReactNode } from 'react';
import type { JobListItem, Output } from '@millrace/contracts';
import { Bar } from '../ui/display/bar';
import { formatDuration } from '../ui/format';
import { isThumbnail } from '../ui/media';

const THUMBNAILS = 3;

/** What a job's line says of how it goes: its place, its progress, its error, or its outputs. */
export function JobResult({ job }: { job: JobListItem }): ReactNode {
  if (job.error !== null) {
    return (
      <span className="clip job-error" title={job.error.message}>
        {job.error.node_id ? `Node ${job.error.node_id}: ` : ''}
        {job.error.message}
      </span>
    );
  }
  if (job.status === 'queued') return <Place job={job} />;
  if (job.completed_at === null) return <Running job={job} />;
  return <Outputs outputs={job.outputs} />;
}

function Place({ job }: { job: JobListItem }): ReactNode {
  const waitMs = job.metrics['estimated_wait_ms'];
  return (
    <span className="soft number clip">
      {job.queue_position === null ? 'Waiting' : `Position ${job.queue_position}`}
      {typeof waitMs === 'number' && ` · starts in about ${formatDuration(Math.max(1_000, waitMs))}`}
    </span>
  );
}

function Running({ job }: { job: JobListItem }): ReactNode {
  const { value = 0, current_node_class: node } = job.progress ?? {};
  const percent = `${Math.round(value * 100)} %`;
  return (
    <span className="job-progress">
      <Bar value={value} label="Progress" />
      <span className="number small">{percent}</span>
      <span className="clip small soft">{node}</span>
    </span>
  );
}

function Outputs({ outputs }: { outputs: Output[] }): ReactNode {
  if (outputs.length === 0) return <span className="faint">No outputs</span>;
  const pictures = outputs.filter(isThumbnail).slice(0, THUMBNAILS);
  return (
    <span className="job-outputs">
      {pictures.map(({ id, url }) => (
        <img key={id} src={url} alt="" loading="lazy" decoding="async" />
      ))}
      <span className="small soft clip">{outputs.length === 1 ? outputs[0]?.name : `${outputs.length} outputs`}</span>
    </span>
  );
}
