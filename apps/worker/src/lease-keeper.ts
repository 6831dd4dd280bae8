import type { JobStatus, Progress } from '@millrace/contracts';
import type { Fence, Lifecycle } from '@millrace/jobs';
import type { Logger } from '@millrace/platform';

/** Beats in the length of a lease: two may fail before it is lost. */
const BEATS_PER_LEASE = 3;

export type LeaseEnd = 'canceled' | 'lost';

/**
 * Keeps an attempt's lease for as long as the attempt runs, and ends the attempt when the lease is gone or the job is to be
 * canceled. When PostgreSQL cannot be reached for a whole lease the attempt ends too: another worker may have it by then.
 */
export class LeaseKeeper {
  private readonly controller = new AbortController();
  private ended: LeaseEnd | null = null;
  private timer: NodeJS.Timeout;
  private beating: Promise<void> | null = null;
  private renewedAt = performance.now();

  constructor(
    private readonly lifecycle: Pick<Lifecycle, 'heartbeat'>,
    private readonly fence: Fence,
    private readonly leaseMs: number,
    private readonly progress: () => Progress | null,
    private readonly logger: Logger,
  ) {
    this.timer = setInterval(() => this.tick(), leaseMs / BEATS_PER_LEASE);
  }

  /** Aborts when the attempt is over for this worker; `end` then tells why. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  get end(): LeaseEnd | null {
    return this.ended;
  }

  /** Renew now; calls made meanwhile share one renewal. Never rejects. */
  beat(): Promise<void> {
    this.beating ??= this.renew().finally(() => (this.beating = null));
    return this.beating;
  }

  private tick(): void {
    // A renewal may hang for longer than the lease: what counts is when the last one came through.
    if (performance.now() - this.renewedAt > this.leaseMs) this.over('lost');
    else void this.beat();
  }

  private async renew(): Promise<void> {
    const asked = performance.now();
    let status: JobStatus | null;
    try {
      status = await this.lifecycle.heartbeat(this.fence, this.progress());
    } catch (error) {
      this.logger.warn({ err: error, job: this.fence.jobId }, 'a heartbeat failed');
      return;
    }
    this.renewedAt = asked;
    if (status === null) this.over('lost');
    else if (status === 'canceling') this.over('canceled');
  }

  private over(end: LeaseEnd): void {
    // A job that is being canceled can still lose its worker; a lost one cannot come back.
    if (this.ended !== 'lost') this.ended = end;
    this.controller.abort();
  }

  /** Stop renewing. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.beating;
  }
}
