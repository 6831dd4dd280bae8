import type { Database } from '@millrace/database';
import { backoffMs, type Logger, type Loop, type LoopReport, type Metrics } from '@millrace/platform';
import { FailureLog } from './failure-log';

const FAILURE_BASE_MS = 500;
const FAILURE_CAP_MS = 15_000;
/** Failed items that are logged in so many milliseconds, also by a loop that runs often; the metric counts all. */
const LOGGED_ITEMS = 5;
const LOGGED_ITEMS_MS = 60_000;
const OUTCOMES = ['done', 'idle', 'failed'] as const;

/**
 * Runs one loop without end: on one process at a time, as far as they can agree (a lock in PostgreSQL), at its pace with some
 * jitter, at once again while there is work, and ever more slowly while it fails.
 */
export class LoopRunner {
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;
  private failures = 0;
  private readonly failureLog: FailureLog;
  private loggedItems = 0;
  private loggedSinceMs = -Infinity;
  private readonly report: LoopReport = {
    failed: (item, error) => this.reportItem(item, error),
    resting: (count) => this.metrics.loopItemsResting.set({ loop: this.loop.name }, count),
  };

  constructor(
    private readonly loop: Loop,
    private readonly database: Database,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {
    this.failureLog = new FailureLog(loop.name, logger);
    // `increase` sees only what is added between two readings, and no first value.
    for (const outcome of OUTCOMES) this.metrics.loopRuns.inc({ loop: loop.name, outcome }, 0);
  }

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
      const runOnce = (): Promise<number> => this.loop.runOnce(this.report);
      const count = this.loop.everywhere ? await runOnce() : await this.database.withLock(`loop:${name}`, runOnce);
      if (count === null) this.metrics.loopConsecutiveFailures.remove({ loop: name });
      else this.count(count > 0 ? 'done' : 'idle');
      if (count !== null && count > 0) nextMs = 0;
    } catch (error) {
      nextMs = everyMs + backoffMs(this.failures, FAILURE_BASE_MS, FAILURE_CAP_MS);
      this.count('failed');
      this.failureLog.add(error);
    }
    this.schedule(nextMs);
  }

  private count(outcome: (typeof OUTCOMES)[number]): void {
    const { name: loop } = this.loop;
    this.failures = outcome === 'failed' ? this.failures + 1 : 0;
    this.metrics.loopRuns.inc({ loop, outcome });
    this.metrics.loopConsecutiveFailures.set({ loop }, this.failures);
  }

  private reportItem(item: string, error: unknown): void {
    const { name } = this.loop;
    this.metrics.loopItemsFailed.inc({ loop: name });
    const now = performance.now();
    if (now - this.loggedSinceMs >= LOGGED_ITEMS_MS) {
      this.loggedSinceMs = now;
      this.loggedItems = 0;
    }
    this.loggedItems += 1;
    if (this.loggedItems > LOGGED_ITEMS) return;
    this.logger.warn({ err: error, loop: name, item }, 'a loop could not do an item, and goes on with the others');
  }

  /** Resolves when the run under way has ended. */
  async stop(): Promise<void> {
    this.stopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
    await this.running;
  }
}
