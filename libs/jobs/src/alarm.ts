/** A sleep that can be rung out of, by an event or by the end of the whole. One at a time: a second takes the bell from the first. */
export class Alarm {
  private wake: (() => void) | undefined;
  private rung = false;

  constructor(private readonly signal: AbortSignal) {}

  get aborted(): boolean {
    return this.signal.aborted;
  }

  /** End the present sleep, or the next before it begins. */
  ring(): void {
    this.rung = true;
    this.wake?.();
  }

  /** Resolves after `ms`, on `ring`, or when the signal aborts, whichever is first. */
  async sleep(ms: number): Promise<void> {
    if (!this.rung && !this.signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.signal.addEventListener('abort', this.ringOnAbort, { once: true });
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.signal.removeEventListener('abort', this.ringOnAbort);
    }
    this.wake = undefined;
    this.rung = false;
  }

  private readonly ringOnAbort = (): void => this.ring();
}
