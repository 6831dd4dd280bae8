import type { Progress } from '@millrace/contracts';
import { BEATS_PER_LEASE, type Fence, type Lifecycle } from '@millrace/jobs';
import type { Logger } from '@millrace/platform';

/** `exhausted`: the run has used up all the credits there are for it. `overtime`: it reached its time limit. */
export type LeaseEnd = 'canceled' | 'exhausted' | 'overtime' | 'lost';

type Renewed = NonNullable<Awaited<ReturnType<Lifecycle['heartbeat']>>> & {
  /** How long the lease lasts now, where who renews it says so. */
  leaseSeconds?: number | undefined;
};

/** Where a lease is renewed. */
export interface LeaseRecords {
  /** @param signal aborts when the answer is waited for no longer: a request that can be ended is. */
  heartbeat: (
    fence: Fence,
    run: { progress: Progress | null; engineMs: number },
    signal: AbortSignal,
  ) => Promise<Renewed | null>;
}

/** Renewals at a time: one of which nobody can end the request keeps its connection until it is answered. */
const MOST_UNANSWERED = 2;

/** A renewal under way. */
interface Beat {
  limit: AbortController;
  over: Promise<void>;
}

/**
 * Renews an attempt's lease for as long as the attempt runs, and ends the attempt when the lease is gone, the job is to be
 * canceled, or its credits or its time are used up. When PostgreSQL cannot be reached for a whole lease the attempt ends too: another
 * worker may have it by then. One renewal that hangs does not keep the next from being sent in its time;
 * two do, where their requests cannot be ended.
 */
export class LeaseKeeper {
  private readonly controller = new AbortController();
  private readonly losing = new AbortController();
  private ended: LeaseEnd | null = null;
  /** When the next renewal is due. */
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;
  /** The newest renewal, until it is answered. */
  private beating: Beat | null = null;
  /** Renewals under way, with those that are waited for no longer. */
  private unanswered = 0;
  private renewedAtMs = performance.now();

  constructor(
    private readonly lifecycle: LeaseRecords,
    private readonly fence: Fence,
    private leaseMs: number,
    private readonly run: Readonly<{ progress: Progress | null; engineMs: number }>,
    private readonly logger: Logger,
  ) {
    this.arm();
  }

  /** Aborts when the attempt is over for this worker; `end` then says why. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Aborts when another worker may have the attempt: nothing of it is worth finishing then. */
  get lost(): AbortSignal {
    return this.losing.signal;
  }

  /** How long the lease lasts, by what its last renewal said. */
  get leaseSeconds(): number {
    return this.leaseMs / 1_000;
  }

  get end(): LeaseEnd | null {
    return this.ended;
  }

  /** Renew now; calls made meanwhile share one renewal. The next is an interval later. Never rejects. */
  beat(): Promise<void> {
    this.beating ??= this.begin();
    return this.beating.over;
  }

  /** Where a renewal is under way, which may hang, renew the lease by another; no longer than an interval. Never rejects. */
  async refresh(): Promise<void> {
    if (this.beating === null) return;
    this.cut();
    await this.beat();
  }

  private begin(): Beat {
    this.arm();
    const limit = new AbortController();
    this.unanswered += 1;
    const over = this.renew(limit.signal).finally(() => {
      this.unanswered -= 1;
      if (this.beating === beat) this.beating = null;
    });
    const beat = { limit, over };
    return beat;
  }

  /** The next renewal is an interval from now. */
  private arm(): void {
    clearTimeout(this.timer);
    if (!this.isClosed) this.timer = setTimeout(() => this.tick(), this.leaseMs / BEATS_PER_LEASE);
  }

  private tick(): void {
    // What counts is when the last renewal succeeded, not whether one is under way.
    if (performance.now() - this.renewedAtMs > this.leaseMs) return this.over('lost');
    if (this.unanswered >= MOST_UNANSWERED) return this.arm();
    // It had a whole interval: its connection may lead nowhere, and the next takes another.
    this.cut();
    void this.beat();
  }

  /** The renewal under way is waited for no longer. */
  private cut(): void {
    this.beating?.limit.abort();
    this.beating = null;
  }

  private async renew(signal: AbortSignal): Promise<void> {
    const askedAtMs = performance.now();
    let answer: Renewed | null;
    try {
      const { progress, engineMs } = this.run;
      answer = await this.lifecycle.heartbeat(this.fence, { progress, engineMs }, signal);
    } catch (error) {
      if (!this.isClosed) this.logger.warn({ err: error, job: this.fence.jobId }, 'a heartbeat failed');
      return;
    }
    // One that was sent after it may have been answered before.
    const isLatest = askedAtMs >= this.renewedAtMs;
    if (isLatest) this.renewedAtMs = askedAtMs;
    if (answer === null) return this.over('lost');
    if (isLatest) this.lasts((answer.leaseSeconds ?? 0) * 1_000);
    if (answer.status === 'canceling') this.over('canceled');
    else if (answer.exhausted) this.over('exhausted');
    else if (answer.overtime) this.over('overtime');
  }

  /** @param leaseMs 0: as long as before. */
  private lasts(leaseMs: number): void {
    if (leaseMs === 0 || leaseMs === this.leaseMs) return;
    this.leaseMs = leaseMs;
    this.arm();
  }

  private over(end: LeaseEnd): void {
    // A job that is being canceled can still lose its worker; a lost one cannot come back.
    if (this.ended !== 'lost') this.ended = end;
    this.controller.abort();
    if (end === 'lost') this.losing.abort();
  }

  /** Stop renewing, and end the renewal under way. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    const last = this.beating;
    this.cut();
    await last?.over;
  }
}
