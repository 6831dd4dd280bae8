import type { EngineEvent, EngineResult, EngineWork } from '@millrace/engines';

/** What the compute thread is born with. */
export interface ThreadSettings {
  /** One 32-bit word: not 0 once the run at hand should stop. */
  interrupt: SharedArrayBuffer;
  runBudgetBytes: number;
  cacheBytes: number;
}

/** From the engine to its thread: run this. One at a time. */
export interface RunRequest {
  work: EngineWork;
}

/** From the thread: it can take a run; something happened in the run; the run is over. */
export type ThreadMessage =
  | { type: 'ready'; version: string }
  | { type: 'event'; event: EngineEvent }
  | { type: 'settled'; result: EngineResult };
