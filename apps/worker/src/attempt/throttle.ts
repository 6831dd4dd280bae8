/** Calls `send` with the latest value at most every `everyMs`; the last one is always sent, by `flush` at the latest. */
export class Throttle<T> {
  private pending: { value: T } | null = null;
  private timer: NodeJS.Timeout | null = null;

  constructor(
    private readonly everyMs: number,
    private readonly send: (value: T) => void,
  ) {}

  offer(value: T): void {
    this.pending = { value };
    if (this.timer !== null) return;
    this.flush();
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.pending !== null) this.offer(this.pending.value);
    }, this.everyMs);
  }

  flush(): void {
    const { pending } = this;
    this.pending = null;
    if (pending !== null) this.send(pending.value);
  }

  /** Send what is left and end. */
  close(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.flush();
  }
}
