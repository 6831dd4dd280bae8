import type { Database } from '@millrace/database';
import { backoffMs, type Logger, type Loop, type Metrics } from '@millrace/platform';

const FAILURE_BASE_MS = 500;
const FAILURE_CAP_MS = 15_000;

/**
 * Runs one loop without end: on one process at a time, as far as they can agree (a lock in PostgreSQL), at its pace with some
 * jitter, at once again while there is work, and ever more slowly while it fails.
 */
export class LoopRunner {
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;
  private failures = 0;

  constructor(
    private readonly loop: Loop,
    private readonly database: Database,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.schedule(Math.random() * Math.min(this.loop.everyMs, 1_000));
  }

  private schedule(delayMs: number): void {
    if (this.stopped) return;
    this.timer = setTimeout(() => {
      this.running = this.run();
    }, delayMs);
  }

  private async run(): Promise<void> {
    const { name, everyMs } = this.loop;
    let nextMs = everyMs * (0.9 + 0.2 * Math.random());
    try {
      // Null: another process has this loop at present.
      const runOnce = (): Promise<number> => this.loop.runOnce();
      const count = this.loop.everywhere ? await runOnce() : await this.database.withLock(`loop:${name}`, runOnce);
      this.failures = 0;
      if (count !== null) this.metrics.loopRuns.inc({ loop: name, outcome: count > 0 ? 'done' : 'idle' });
      if (count !== null && count > 0) nextMs = 0;
    } catch (error) {
      this.metrics.loopRuns.inc({ loop: name, outcome: 'failed' });
      this.logger.warn({ err: error, loop: name }, 'a run of a loop failed');
      nextMs = everyMs + backoffMs(this.failures, FAILURE_BASE_MS, FAILURE_CAP_MS);
      this.failures += 1;
    }
    this.schedule(nextMs);
  }

  /** Resolves when the run under way has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
    await this.running;
  }
}
