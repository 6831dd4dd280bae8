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
  /** Do one batch. @returns how many items were done; 0 when there was no work. */
  runOnce(report?: LoopReport): Promise<number>;
}
