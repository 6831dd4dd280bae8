import type { Progress } from '@millrace/contracts';
import { BEATS_PER_LEASE, type Fence, type Lifecycle } from '@millrace/jobs';
import type { Logger } from '@millrace/platform';

/** `exhausted`: the run has used up all the credits there are for it. `overtime`: it reached its time limit. */
export type LeaseEnd = 'canceled' | 'exhausted' | 'overtime' | 'lost';

/**
 * Renews an attempt's lease for as long as the attempt runs, and ends the attempt when the lease is gone, the job is to be
 * canceled, or its credits or its time are used up. When PostgreSQL cannot be reached for a whole lease the attempt ends too: another
 * worker may have it by then.
 */
export class LeaseKeeper {
  private readonly controller = new AbortController();
  private ended: LeaseEnd | null = null;
  private readonly timer: NodeJS.Timeout;
  private beating: Promise<void> | null = null;
  private renewedAtMs = performance.now();

  constructor(
    private readonly lifecycle: Pick<Lifecycle, 'heartbeat'>,
    private readonly fence: Fence,
    private readonly leaseMs: number,
    private readonly run: Readonly<{ progress: Progress | null; engineMs: number }>,
    private readonly logger: Logger,
  ) {
    this.timer = setInterval(() => this.tick(), leaseMs / BEATS_PER_LEASE);
  }

  /** Aborts when the attempt is over for this worker; `end` then says why. */
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
    // A renewal may hang for longer than the lease: what counts is when the last one succeeded.
    if (performance.now() - this.renewedAtMs > this.leaseMs) this.over('lost');
    else void this.beat();
  }

  private async renew(): Promise<void> {
    const askedAtMs = performance.now();
    let answer: Awaited<ReturnType<Lifecycle['heartbeat']>>;
    try {
      const { progress, engineMs } = this.run;
      answer = await this.lifecycle.heartbeat(this.fence, { progress, engineMs });
    } catch (error) {
      this.logger.warn({ err: error, job: this.fence.jobId }, 'a heartbeat failed');
      return;
    }
    this.renewedAtMs = askedAtMs;
    if (answer === null) this.over('lost');
    else if (answer.status === 'canceling') this.over('canceled');
    else if (answer.exhausted) this.over('exhausted');
    else if (answer.overtime) this.over('overtime');
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
