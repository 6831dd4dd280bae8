import type { ReactNode } from 'react';
import { JOB_STATUSES, type BatchView } from '@millrace/contracts';
import { Bar } from '../ui/display/bar';
import { Sign } from '../ui/display/status';

/** How far a batch is: its jobs that have ended, of all. */
export function BatchProgress({ batch }: { batch: BatchView }): ReactNode {
  const percent = Math.floor(batch.progress * 100);
  return (
    <span className="batch-progress">
      <Bar value={batch.progress} label="Jobs that have ended" tone={batch.status === 'completed' ? 'good' : 'busy'} />
      <span className="number small">{percent} %</span>
    </span>
  );
}

/** Whether all jobs of a batch have ended, and whether all of them well. */
export function BatchSign({ batch: { status, counts, job_count: jobs } }: { batch: BatchView }): ReactNode {
  if (status === 'active') {
    return (
      <Sign tone="busy" icon="again" turning>
        Active
      </Sign>
    );
  }
  if (counts.failed + counts.expired > 0) {
    return (
      <Sign tone="bad" icon="warning">
        Completed
      </Sign>
    );
  }
  const isWhole = counts.succeeded === jobs;
  return (
    <Sign tone={isWhole ? 'good' : 'rest'} icon={isWhole ? 'check' : 'stop'}>
      Completed
    </Sign>
  );
}

/** The counts that are not 0, as words: `3 succeeded, 1 failed`. */
export function countsText({ counts }: BatchView): string {
  const parts = JOB_STATUSES.filter((status) => counts[status] > 0).map((status) => `${counts[status]} ${status}`);
  return parts.join(', ');
}
