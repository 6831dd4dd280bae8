/**
 * A sleep that an event or an abort ends early. One at a time. Thousands of streams sleep for long and are woken often, so a
 * timer that has not fired is kept for the next sleep.
 */
export class InterruptibleSleep {
  private resolve: (() => void) | undefined;
  private woken = false;
  private over: boolean;
  private timer: NodeJS.Timeout | undefined;
  private timerAt = Number.POSITIVE_INFINITY;

  constructor(private readonly signal: AbortSignal) {
    this.over = signal.aborted;
    signal.addEventListener('abort', this.end, { once: true });
  }

  get aborted(): boolean {
    return this.over;
  }

  /** End the present sleep, or the next before it begins. */
  wake(): void {
    const { resolve } = this;
    if (resolve === undefined) {
      this.woken = true;
      return;
    }
    this.resolve = undefined;
    resolve();
  }

  /**
   * Resolves after `ms`, on `wake`, or when the signal aborts, whichever is first; earlier where an earlier sleep would have
   * ended then.
   */
  sleep(ms: number): Promise<void> {
    if (this.woken || this.over) {
      this.woken = false;
      return Promise.resolve();
    }
    const at = performance.now() + ms;
    if (this.timer === undefined || at < this.timerAt) {
      clearTimeout(this.timer);
      this.timer = setTimeout(this.expire, ms);
      this.timerAt = at;
    }
    return new Promise((resolve) => (this.resolve = resolve));
  }

  /** Release the timer and the signal; nothing wakes it any more. */
  close(): void {
    clearTimeout(this.timer);
    this.signal.removeEventListener('abort', this.end);
  }

  private readonly expire = (): void => {
    this.timer = undefined;
    this.wake();
  };

  private readonly end = (): void => {
    this.over = true;
    this.wake();
  };
}
