import type { Preview, Progress } from '@millrace/contracts';
import type { LivePublisher } from '@millrace/messaging';
import { isTerminal } from '@millrace/contracts';
import type { MovedJob } from './lifecycle.store';

/** Says a word to the workers of a pool; lossy. */
export type ControlSender = (poolId: string, message: { kind: 'cancel'; jobId: string }) => Promise<void>;

/**
 * Tells the outside what has been committed. Called after the commit, never before; nothing is awaited by the work itself,
 * and whoever misses a word finds the fact in Postgres.
 */
export class JobSignals {
  constructor(
    private readonly live: LivePublisher,
    /** Deletes what was handed over for a run; any process that ends a job does. */
    private readonly forgetSecret: (jobId: string) => Promise<void>,
    private readonly control: ControlSender,
  ) {}

  moved(job: MovedJob): void {
    void this.live.publish(job.id, { kind: 'status', seq: job.seq });
    if (job.status === 'canceling') void this.control(job.poolId, { kind: 'cancel', jobId: job.id });
    if (isTerminal(job.status)) {
      void this.live.forget(job.id);
      if (job.hasSecrets) void this.forgetSecret(job.id);
    }
  }

  /** The first attempt was claimed. */
  started(jobId: string, seq: number): void {
    void this.live.publish(jobId, { kind: 'status', seq });
  }

  outputRecorded(jobId: string, ordinal: number): void {
    void this.live.publish(jobId, { kind: 'output', ordinal });
  }

  progressed(jobId: string, attempt: number, progress: Progress): void {
    void this.live.publish(jobId, { kind: 'progress', attempt, progress });
  }

  /** The progress that was shown last, as far as Redis remembers. Never rejects. */
  lastShown(jobId: string): Promise<Progress | null> {
    return this.live.progress(jobId);
  }

  previewed(jobId: string, attempt: number, preview: Preview): void {
    void this.live.publish(jobId, { kind: 'preview', attempt, preview });
  }
}
