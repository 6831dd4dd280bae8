import type { JobListener } from './job-follower';
import type { ObservedNodes } from './observed-nodes';

/** Shows a job while it runs, on standard error: what is printed there is for the eye alone. */
export interface ProgressView extends JobListener {
  readonly nodes: ObservedNodes;
  /** A line that stays. Text of others in it must be harmless already. */
  note(line: string): void;
  /** Leave the terminal as it was found. Nothing is shown afterwards but notes. */
  close(): void;
}
