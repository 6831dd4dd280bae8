import type { EngineEvent, EngineResult, EngineWork } from '@millrace/engines';

/** What a compute process may hold; each bound is one of the process, and none of them of the process that started it. */
export interface ComputeSettings {
  /** Pixels and text of one run. */
  runBudgetBytes: number;
  /** Results of earlier runs. */
  cacheBytes: number;
  /** JavaScript objects of the thread that computes, pixels not among them, in MiB. */
  heapMib: number;
  /** Everything together, as the machine sees it (resident set size): a process above it is ended. */
  residentBytes: number;
}

/** What the compute thread starts with. */
export interface ThreadSettings extends Pick<ComputeSettings, 'runBudgetBytes' | 'cacheBytes'> {
  /** One 32-bit word: not 0 once the run at hand should stop. */
  interrupt: SharedArrayBuffer;
}

/**
 * A run as it goes to the process, which reads the graph from its text: copying a parsed graph takes ten times as long (21 KB:
 * 4.8 ms, against 0.5 ms for reading it).
 */
export interface ThreadWork extends Omit<EngineWork, 'graph'> {
  /** The graph as JSON text, digit for digit. */
  workflow: string;
}

/** From a compute process to its thread: run this. One at a time. */
export interface RunRequest {
  work: ThreadWork;
}

/** From the thread, and on to the engine: it can take a run; something happened in the run; the run is over. */
export type ThreadMessage =
  | { type: 'ready'; version: string }
  | { type: 'event'; event: EngineEvent }
  | { type: 'settled'; result: EngineResult };

/** From the engine to a compute process. `start` comes first and once. */
export type ProcessRequest =
  { type: 'start'; settings: ComputeSettings } | ({ type: 'run' } & RunRequest) | { type: 'interrupt' };

/** From a compute process to the engine; after `exhausted` it ends. */
export type ProcessMessage = ThreadMessage | { type: 'exhausted'; reason: string };
