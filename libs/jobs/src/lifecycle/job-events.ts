import { isTerminal, type Preview, type Progress } from '@millrace/contracts';
import type { LivePublisher } from '@millrace/messaging';
import { boundedProgress, type MovedJob } from '../state';

/** Sends a message to the workers of a pool; it may be lost. */
export type ControlSender = (poolId: string, message: { kind: 'cancel'; jobId: string }) => Promise<void>;

/**
 * Publishes what has been committed. Called after the commit, never before; no statement waits for it, and a subscriber that
 * misses a message finds the fact in Postgres.
 */
export class JobEvents {
  constructor(
    private readonly live: LivePublisher,
    /** Deletes what was handed over for a run; the process that ends a job calls it. */
    private readonly forgetSecret: (jobId: string) => Promise<void>,
    private readonly control: ControlSender,
  ) {}

  /** The job's status changed. */
  moved(job: MovedJob): void {
    const event = { kind: 'status', seq: job.seq } as const;
    if (!isTerminal(job.status)) void this.live.publish(job.id, event);
    else {
      void this.live.publishEnd(job.id, event);
      if (job.hasSecrets) void this.forgetSecret(job.id);
    }
    if (job.status === 'canceling') void this.control(job.poolId, { kind: 'cancel', jobId: job.id });
  }

  /** The first attempt was claimed. */
  started(jobId: string, seq: number): void {
    void this.live.publish(jobId, { kind: 'status', seq });
  }

  outputRecorded(jobId: string, ordinal: number): void {
    void this.live.publish(jobId, { kind: 'output', ordinal });
  }

  progressed(jobId: string, attempt: number, progress: Progress): void {
    void this.live.publish(jobId, { kind: 'progress', attempt, progress: boundedProgress(progress) });
  }

  /** The progress that was published last, if Redis still has it. Never rejects. */
  async lastProgress(jobId: string): Promise<Progress | null> {
    const [progress = null] = await this.live.progress([jobId]);
    return progress;
  }

  previewed(jobId: string, attempt: number, preview: Preview): void {
    void this.live.publish(jobId, { kind: 'preview', attempt, preview });
  }
}
