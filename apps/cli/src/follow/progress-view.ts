import type { JobListener } from './job-follower';
import type { ObservedNodes } from './observed-nodes';

/** Shows a job while it runs, on standard error, for people only. */
export interface ProgressView extends JobListener {
  readonly nodes: ObservedNodes;
  /** A line that stays. Foreign text in it must be sanitized already (`plainLine`). */
  note(line: string): void;
  /** Restore the terminal. Afterwards only notes are shown. */
  close(): void;
}
