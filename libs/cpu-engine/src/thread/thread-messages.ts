import type { EngineEvent, EngineResult, EngineWork } from '@millrace/engines';

/** What the compute thread is born with. */
export interface ThreadSettings {
  /** One 32-bit word: not 0 once the run at hand should stop. */
  interrupt: SharedArrayBuffer;
  runBudgetBytes: number;
  cacheBytes: number;
}

/**
 * A run as it goes to the thread, which reads the graph from its text: copying a parsed graph from one thread to another takes
 * ten times as long (21 KB: 4.8 ms, against 0.5 ms for reading it).
 */
export interface ThreadWork extends Omit<EngineWork, 'graph'> {
  /** The graph as JSON text, digit for digit. */
  workflow: string;
}

/** From the engine to its thread: run this. One at a time. */
export interface RunRequest {
  work: ThreadWork;
}

/** From the thread: it can take a run; something happened in the run; the run is over. */
export type ThreadMessage =
  | { type: 'ready'; version: string }
  | { type: 'event'; event: EngineEvent }
  | { type: 'settled'; result: EngineResult };
