import type { Progress } from '@millrace/contracts';
import type { JobRecord } from '../state';

type Progressing = Pick<JobRecord, 'status' | 'progress'>;

/**
 * Whether more may have been published of the job than Postgres holds, which is what its worker's last heartbeat said. Between two
 * attempts, too: that heartbeat was the lost worker's.
 */
export function hasLiveProgress({ status }: Progressing): boolean {
  return status === 'running' || status === 'canceling';
}

/** The job with the progress that its streams have shown: progress never goes back. */
export function withProgress<T extends Progressing>(job: T, shown: Progress | null): T {
  const isNewer = shown !== null && hasLiveProgress(job) && shown.value >= (job.progress?.value ?? 0);
  return isNewer ? { ...job, progress: shown } : job;
}
