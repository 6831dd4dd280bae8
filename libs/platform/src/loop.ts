/** Where a loop reports single items that it could not do, while it goes on with the others. */
export interface LoopReport {
  failed(item: string, error: unknown): void;
  /** How many items wait for another try after they failed. */
  resting(count: number): void;
}

/** A periodic chore: one bounded batch a run, safe to run twice and safe to stop anywhere. */
export interface Loop {
  readonly name: string;
  /** Pause between two runs, in milliseconds; after a run that did work, the next follows at once. */
  readonly everyMs: number;
  /** Runs on every maintenance process; any other runs on one of them at a time. */
  readonly everywhere?: boolean;
  /**
   * Do one batch.
   *
   * @returns how many items are done and will not come again; 0 when there was no work. More than 0 has the next run follow at
   * once, so work that failed, or is only asked for, is not counted.
   * @throws when it cannot work now: the runner then waits longer each time.
   */
  runOnce(report?: LoopReport): Promise<number>;
}
