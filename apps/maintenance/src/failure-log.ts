import type { Logger } from '@millrace/platform';

/** A loop that keeps failing logs once in this time. */
const LOG_EVERY_MS = 60_000;

/** Logs failed runs of a loop: the first at once, and those that follow it once a minute, with how many there were. */
export class FailureLog {
  private loggedAtMs = -Infinity;
  private unlogged = 0;

  constructor(
    private readonly loop: string,
    private readonly logger: Pick<Logger, 'warn'>,
  ) {}

  add(error: unknown): void {
    this.unlogged += 1;
    const now = performance.now();
    if (now - this.loggedAtMs < LOG_EVERY_MS) return;
    this.logger.warn({ err: error, loop: this.loop, failures: this.unlogged }, 'a run of a loop failed');
    this.loggedAtMs = now;
    this.unlogged = 0;
  }
}
