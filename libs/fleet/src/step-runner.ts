import { backoffMs, type Logger } from '@millrace/platform';
import type { Reconciler } from './reconcile';

const EVERY_MS = 1_000;
const LONGEST_PAUSE_MS = 15_000;

/** Has the fleet take steps without end: one a second, and fewer while they fail. */
export class StepRunner {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;
  private failures = 0;

  constructor(
    private readonly reconciler: Pick<Reconciler, 'step'>,
    private readonly logger: Logger,
    /** Called after a step, with whether it led. One that failed led to nothing. */
    private readonly onStep: (leads: boolean) => void,
  ) {}

  start(): void {
    this.schedule(0);
  }

  private schedule(delayMs: number): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.running = this.run();
    }, delayMs);
  }

  private async run(): Promise<void> {
    let pauseMs = EVERY_MS;
    try {
      this.onStep(await this.reconciler.step());
      this.failures = 0;
    } catch (error) {
      this.logger.warn({ err: error, failures: (this.failures += 1) }, 'a step of the fleet failed, and is repeated');
      this.onStep(false);
      pauseMs += backoffMs(this.failures, EVERY_MS, LONGEST_PAUSE_MS);
    }
    this.schedule(pauseMs);
  }

  /** Resolves when the step under way has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    clearTimeout(this.timer);
    await this.running;
  }
}
