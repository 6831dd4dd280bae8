import type { EngineResult } from '../../engine';
import type { RunFiles } from '../files';
import type { SanitisedGraph } from '../graph';
import type { ComfyuiClient, ComfyuiSocket, HistoryEntry } from '../protocol';
import type { RunState } from './run-state';
import type { Scrubber } from './scrub';

/** A server that answers, and the ways to it. */
export interface RunServer {
  client: ComfyuiClient;
  socket: ComfyuiSocket;
  files: RunFiles;
  scrubber: Scrubber;
}

/** What a run came to, for the engine. */
export interface RunOutcome {
  result: EngineResult;
  /** The server still has the run, or may: it must not be given another before it was replaced or looked at. */
  isStuck: boolean;
  /** How far the run came; null when its graph was refused. */
  trace: RunTrace | null;
}

/** What a run shows of the server: its caches, its models, its node classes. */
export interface RunTrace {
  graph: SanitisedGraph;
  state: RunState;
  /** Classes of the nodes that reported. */
  reportedBy: ReadonlySet<string>;
}

export const PROCESS_ENDED = 'The ComfyUI process ended during the run.';

/** What ended the wait for a posted run. */
export type Ending =
  | { kind: 'ended'; entry: HistoryEntry | null }
  /** Its node ended the process, and said why. */
  | { kind: 'crashed' }
  /** It said more than is taken; the node at which that showed, null where several may have. */
  | { kind: 'too_large'; nodeId: string | null }
  /** It was canceled, and has stopped. */
  | { kind: 'stopped' }
  /** It was canceled, and goes on. */
  | { kind: 'ignored' }
  /** `isHung`: the server begins no run any more. */
  | { kind: 'lost'; reason: string; isHung?: boolean };
