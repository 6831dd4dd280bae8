/**
 * A sleep that can be rung out of, by an event or by the end of the whole. One at a time: a second takes the bell from the
 * first. Thousands of them sleep for long and are rung out of often, so a timer that has not gone off is kept.
 */
export class Alarm {
  private wake: (() => void) | undefined;
  private rung = false;
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
  ring(): void {
    const { wake } = this;
    if (wake === undefined) {
      this.rung = true;
      return;
    }
    this.wake = undefined;
    wake();
  }

  /**
   * Resolves after `ms`, on `ring`, or when the signal aborts, whichever is first; earlier where an earlier sleep would have
   * ended then.
   */
  sleep(ms: number): Promise<void> {
    if (this.rung || this.over) {
      this.rung = false;
      return Promise.resolve();
    }
    const at = performance.now() + ms;
    if (this.timer === undefined || at < this.timerAt) {
      clearTimeout(this.timer);
      this.timer = setTimeout(this.expire, ms);
      this.timerAt = at;
    }
    return new Promise((resolve) => (this.wake = resolve));
  }

  /** Let go of the timer and of the signal; nothing rings any more. */
  close(): void {
    clearTimeout(this.timer);
    this.signal.removeEventListener('abort', this.end);
  }

  private readonly expire = (): void => {
    this.timer = undefined;
    this.ring();
  };

  private readonly end = (): void => {
    this.over = true;
    this.ring();
  };
}
