/** Calls `send` with the latest value at most every `everyMs`, until it is closed. */
export class Throttle<T> {
  private pending: { value: T } | null = null;
  private timer: NodeJS.Timeout | null = null;
  private isClosed = false;

  constructor(
    private readonly everyMs: number,
    private readonly send: (value: T) => void,
  ) {}

  offer(value: T): void {
    if (this.isClosed) return;
    if (this.timer !== null) {
      this.pending = { value };
      return;
    }
    this.send(value);
    this.timer = setTimeout(() => {
      const { pending } = this;
      this.timer = null;
      this.pending = null;
      if (pending !== null) this.offer(pending.value);
    }, this.everyMs);
  }

  /** Send nothing more; what is held back is dropped. */
  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.pending = null;
    this.isClosed = true;
  }
}
