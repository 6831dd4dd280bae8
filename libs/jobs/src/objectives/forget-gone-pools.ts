import type { Statements } from '@millrace/database';
import type { Logger, Metrics } from '@millrace/platform';
import type { GonePoolStore } from './gone-pools.store';

const EVERY_MS = 300_000;
/** The last jobs of a pool are counted a minute after their end, and read at the next scrape. */
const SETTLED_SECONDS = 900;

/** Takes pools that are gone from the metrics of this process: each deployment has a pool for each of its versions, and a process may run for months. */
export class ForgetGonePools {
  private readonly timer: NodeJS.Timeout;
  private running: Promise<void> = Promise.resolve();

  /** Looks every five minutes until it is stopped. */
  constructor(
    private readonly database: Statements,
    private readonly store: GonePoolStore,
    private readonly metrics: Pick<Metrics, 'pools' | 'forgetPools'>,
    logger: Pick<Logger, 'warn'>,
    everyMs = EVERY_MS,
  ) {
    const run = (): Promise<void> =>
      this.runOnce().catch((error: unknown) => {
        logger.warn({ err: error }, 'metrics of pools that are gone were not looked for, and are the next time');
      });
    this.timer = setInterval(() => {
      this.running = this.running.then(run);
    }, everyMs).unref();
  }

  async runOnce(): Promise<void> {
    const pools = await this.metrics.pools();
    if (pools.length === 0) return;
    const gone = await this.store.find(this.database, pools, SETTLED_SECONDS);
    if (gone.length > 0) await this.metrics.forgetPools(new Set(gone));
  }

  /** Resolves when the run under way has ended. */
  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
  }
}
