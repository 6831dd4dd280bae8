/** Share of the latest attempt in the mean: the last dozen or so count. */
const LATEST = 0.15;

/** What attempts have taken of their engines of late. */
export class Pace {
  private mean: number | null = null;

  /** @param ms what an attempt took of its engine, from its taking to the moment at which the engine was free for the next. */
  add(ms: number): void {
    this.mean = this.mean === null ? ms : this.mean + LATEST * (ms - this.mean);
  }

  /** In whole milliseconds; null until there was an attempt. */
  get attemptMs(): number | null {
    return this.mean === null ? null : Math.round(this.mean);
  }
}
