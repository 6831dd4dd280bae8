import { GATEWAY_POLL_MS, type ControlMessage } from '@millrace/contracts';
import type { RemoteAttempts } from '@millrace/jobs';
import type { Logger } from '@millrace/platform';

/** Jobs that are kept for a worker that does not wait at the moment; the oldest goes. Its heartbeats are answered the same. */
const KEPT = 100;
/** What is kept for a worker that does not come back, in milliseconds. */
const KEPT_MS = 60_000;

interface Mailbox {
  jobs: Set<string>;
  wake: (() => void) | null;
  askedAtMs: number;
}

/** Receives the messages to a pool's workers: `listenForControl` of messaging. */
export type ListenToPool = (poolId: string, listener: (message: ControlMessage) => void) => void;

/**
 * Shows workers outside the cluster which of their own jobs are to be canceled, and nothing of others. Lossy, as the
 * messages are: the next heartbeat says the same.
 */
export class WorkerControls {
  private readonly mailboxes = new Map<string, Mailbox>();
  private readonly pools = new Set<string>();
  private isClosed = false;

  constructor(
    private readonly listen: ListenToPool,
    private readonly attempts: Pick<RemoteAttempts, 'workerOf'>,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  /** Wait for jobs of a worker that are to be canceled. @returns none when there were none in time. */
  async next(poolId: string, workerId: string, gone: AbortSignal, waitMs = GATEWAY_POLL_MS): Promise<string[]> {
    this.follow(poolId);
    const box = this.boxOf(workerId);
    // A worker asks once at a time: an earlier request of it has lost its connection.
    box.wake?.();
    if (box.jobs.size === 0 && !gone.aborted && !this.isClosed) {
      await new Promise<void>((resolve) => {
        const end = (): void => {
          clearTimeout(timer);
          gone.removeEventListener('abort', end);
          if (box.wake === end) box.wake = null;
          resolve();
        };
        const timer = setTimeout(end, waitMs);
        gone.addEventListener('abort', end);
        box.wake = end;
      });
    }
    box.askedAtMs = performance.now();
    if (gone.aborted) return [];
    const jobs = [...box.jobs];
    box.jobs.clear();
    return jobs;
  }

  private follow(poolId: string): void {
    if (this.pools.has(poolId)) return;
    this.pools.add(poolId);
    this.listen(poolId, (message) => {
      if (message.kind === 'cancel' && this.mailboxes.size > 0) void this.deliver(message.jobId);
    });
  }

  private async deliver(jobId: string): Promise<void> {
    const workerId = await this.attempts.workerOf(jobId).catch((error: unknown) => {
      this.logger.warn({ err: error, job: jobId }, 'whose job is to be canceled could not be read');
      return null;
    });
    const box = workerId === null ? undefined : this.mailboxes.get(workerId);
    if (box === undefined) return;
    const [oldest] = box.jobs;
    if (box.jobs.size >= KEPT && oldest !== undefined) box.jobs.delete(oldest);
    box.jobs.add(jobId);
    box.wake?.();
  }

  private boxOf(workerId: string): Mailbox {
    for (const [id, { wake, askedAtMs }] of this.mailboxes) {
      if (wake === null && performance.now() - askedAtMs > KEPT_MS) this.mailboxes.delete(id);
    }
    const known = this.mailboxes.get(workerId);
    if (known !== undefined) return known;
    const box = { jobs: new Set<string>(), wake: null, askedAtMs: performance.now() };
    this.mailboxes.set(workerId, box);
    return box;
  }

  /** Answer everyone who waits, and those who come at once. */
  close(): void {
    this.isClosed = true;
    for (const { wake } of this.mailboxes.values()) wake?.();
  }
}
