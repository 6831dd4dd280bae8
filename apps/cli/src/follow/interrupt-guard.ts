import type { Job } from '../client';
import { type Host, Interrupted, leftAtOnce } from '../process';

/** What the first Ctrl-C does to a running job. */
export const INTERRUPT_POLICIES = ['cancel', 'detach'] as const;
export type InterruptPolicy = (typeof INTERRUPT_POLICIES)[number];

/** What became of a request to cancel: of one without an answer, whether it arrived is `unknown`. */
export type Cancellation = 'none' | 'unknown' | 'requested' | 'failed';

export interface GuardActions {
  /** Absent where the first Ctrl-C leaves the job alone. @returns what came of it; it does not reject. */
  cancel?: ((job: Job) => Promise<Cancellation>) | undefined;
  note: (line: string) => void;
}

/**
 * Decides what Ctrl-C does. During a submission the first one waits for the answer, because a job may exist by then; while
 * a job runs the first one cancels or leaves it; a second one always leaves at once, also where the work does not stop.
 */
export class InterruptGuard {
  private readonly leaving = new AbortController();
  private readonly stopListening: () => void;
  private phase: 'quiet' | 'submitting' | 'running' = 'quiet';
  private job: Job | null = null;
  private pressed = false;
  private cancellation: Cancellation = 'none';
  private abandon: () => void = () => undefined;

  constructor(
    host: Host,
    private readonly actions: GuardActions,
  ) {
    this.stopListening = host.onInterrupt(() => this.interrupted());
  }

  /** Aborts when the command has to leave. */
  get signal(): AbortSignal {
    return this.leaving.signal;
  }

  /** True once Ctrl-C was pressed. */
  get isPressed(): boolean {
    return this.pressed;
  }

  /** What became of the request to cancel the job. */
  get canceling(): Cancellation {
    return this.cancellation;
  }

  /**
   * Run the work of the command, and stop listening at its end. The press after the one that aborts `signal` does not wait for what the
   * work still does, such as dropping an upload.
   *
   * @throws {Interrupted} then.
   */
  async guarding<T>(work: () => Promise<T>): Promise<T> {
    const abandoned = new Promise<never>((_resolve, reject) => {
      this.abandon = () => reject(this.job ? leftJob(this.job) : leftAtOnce());
    });
    try {
      return await Promise.race([work(), abandoned]);
    } finally {
      this.stopListening();
    }
  }

  /** Run a request whose outcome must be known. */
  async submitting<T>(request: () => Promise<T>): Promise<T> {
    this.phase = 'submitting';
    const left = new Promise<never>((_resolve, reject) => {
      this.signal.addEventListener('abort', () => reject(new Interrupted('Interrupted.')), { once: true });
    });
    try {
      return await Promise.race([request(), left]);
    } finally {
      this.phase = 'quiet';
    }
  }

  /** From here on Ctrl-C is about this job. */
  running(job: Job): void {
    this.phase = 'running';
    this.job = job;
    if (this.pressed) this.decide();
  }

  /** The job has ended; from here on Ctrl-C leaves. */
  ended(): void {
    this.phase = 'quiet';
  }

  private interrupted(): void {
    if (this.signal.aborted) return this.abandon();
    const isSecond = this.pressed;
    this.pressed = true;
    if (this.phase === 'running') this.decide();
    else if (this.phase === 'quiet' || isSecond) this.leaving.abort();
    else this.actions.note('Waiting for the answer; press Ctrl-C again to leave at once.');
  }

  private decide(): void {
    const { cancel, note } = this.actions;
    if (cancel === undefined || this.cancellation !== 'none' || !this.job) return this.leaving.abort();
    this.cancellation = 'unknown';
    // Before the note, which may find its reader gone.
    void cancel(this.job).then((outcome) => (this.cancellation = outcome));
    note('Canceling the job; press Ctrl-C again to leave without waiting.');
  }
}

function leftJob({ id }: Job): Interrupted {
  const left = new Interrupted(`Left job ${id} at once.`, `See it: millrace jobs get ${id}`);
  left.facts.jobId = id;
  return left;
}
