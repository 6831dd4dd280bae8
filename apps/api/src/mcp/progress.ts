/** Sends one notification of progress. */
export type SendProgress = (progress: number, message: string) => Promise<void>;

/** A model reads none of these, and a person no more than two a second. */
const PAUSE_MS = 500;
/** The protocol wants each to be more than the one before. */
const STEP = 0.000_001;

/** The progress of one call: each notification is more than the last, and they keep a distance. */
export class ProgressReports {
  private last = -STEP;
  private sentAt = Number.NEGATIVE_INFINITY;

  /** @param send undefined where the client wants none. */
  constructor(
    private readonly send: SendProgress | undefined,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** @param fraction from 0 to 1. @param isNews it is sent however soon after the last. */
  async report(fraction: number, message: string, isNews: boolean): Promise<void> {
    const at = this.now();
    if (this.send === undefined || (!isNews && at - this.sentAt < PAUSE_MS)) return;
    this.sentAt = at;
    this.last = Math.max(fraction, this.last + STEP);
    await this.send(this.last, message);
  }
}
