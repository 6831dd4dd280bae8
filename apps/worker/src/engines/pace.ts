/** Share of the latest attempt in the mean: the last dozen or so count. */
const LATEST = 0.15;

/** How long recent attempts occupied their engines: an exponential mean. */
export class Pace {
  private mean: number | null = null;

  /** @param ms how long an attempt occupied its engine: from its taking until the engine was free for the next. */
  add(ms: number): void {
    this.mean = this.mean === null ? ms : this.mean + LATEST * (ms - this.mean);
  }

  /** In whole milliseconds; null until there was an attempt. */
  get attemptMs(): number | null {
    return this.mean === null ? null : Math.round(this.mean);
  }
}
