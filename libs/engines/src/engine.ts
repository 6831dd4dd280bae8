import type { JobErrorCode, NodeCatalogue } from '@millrace/contracts';
import type { WorkflowGraph } from '@millrace/workflow';

/** A file that the workflow reads: the graph names it `name`, the bytes are at `path` on this machine. */
export interface InputFile {
  /** A plain file name, unique within the run. */
  name: string;
  path: string;
  contentType: string;
}

/** One run of one workflow. An engine knows neither tenants nor jobs: only this. */
export interface EngineWork {
  /** A lower-case canonical UUID, unique to this run. */
  runId: string;
  /** Runs of one scope may share cached results; runs of two never do. */
  cacheScope: string;
  /** API-format graph, parsed without loss: numbers stand as submitted. Asset references are replaced by names of `inputs`. */
  graph: WorkflowGraph;
  inputs: InputFile[];
  /**
   * Model files that the engine finds for the time of this run alone, by the names that graphs use, each with what distinguishes its
   * content: another run may find another content under the same name, or none.
   */
  models?: ReadonlyMap<string, string>;
  /**
   * A folder of this run alone, which is not there yet: an engine that has files to hand over makes it. They are written below it, and
   * belong to the caller once they are reported.
   */
  outputDir: string;
  /** Outputs that the caller takes. One more ends the run for it, so that an engine need hand over none beyond that. */
  maxOutputs: number;
  /** Credentials for partner nodes, forwarded as they came. */
  extraData: Record<string, string>;
}

/** What an output consists of: a file below `outputDir`, the bytes of one, or a text, which may be in a file (UTF-8) as well. */
export type OutputContent =
  | { kind: 'file'; name: string; path: string }
  | { kind: 'bytes'; name: string; bytes: Buffer }
  | { kind: 'text'; text: string }
  | { kind: 'text_file'; path: string };

/**
 * An output as the engine found it; the caller names, hashes and stores it. What a run hands over in memory is `HELD_BYTES` at most, texts
 * included: the rest are files, however slowly they are stored.
 */
export type EngineOutput = OutputContent & {
  nodeId: string;
  /** Position among this node's outputs. */
  index: number;
};

/** Whether an output is a text that a node reported, in memory or in a file: it has no name. */
export function isText(output: EngineOutput): output is EngineOutput & { kind: 'text' | 'text_file' } {
  return output.kind === 'text' || output.kind === 'text_file';
}

/** Bytes of the outputs of one run that are handed over in memory, at most; of texts those of their UTF-8. A picture of a million pixels is one to two million bytes. */
export const HELD_BYTES = 2 * 1024 * 1024;

export type EngineEvent =
  /** The run left the engine's own queue: from here on time is billed. */
  | { type: 'started' }
  /** Nodes that need not run, because an earlier run of the scope computed them. */
  | { type: 'nodes_cached'; nodeIds: string[] }
  | { type: 'node_started'; nodeId: string }
  /** Step `step` of `steps` is done. Values as the node reports them: not clamped, not throttled. */
  | { type: 'node_step'; nodeId: string; step: number; steps: number }
  | { type: 'node_finished'; nodeId: string }
  /**
   * The run has succeeded as far as the engine knows, and will soon settle: what is left is to fetch what it made. The next run can be
   * prepared meanwhile. An engine may never say so.
   */
  | { type: 'computed' }
  | { type: 'preview'; nodeId: string; contentType: 'image/jpeg' | 'image/png'; data: Buffer }
  | { type: 'output'; output: EngineOutput }
  /** Standard output of the workflow's code, in write order, line breaks included. */
  | { type: 'log'; text: string };

/** How a run failed for the workflow's own reason. Node ids are those of the submitted graph. */
export interface EngineFailure {
  code: Extract<JobErrorCode, 'node_execution_error' | 'engine_error' | 'input_unavailable'>;
  message: string;
  nodeId: string | null;
  classType: string | null;
  traceback: string | null;
  /** The graph was not begun, and would not be another time either. */
  isRefused?: true;
}

/**
 * `failed`: the workflow's fault, another attempt would fail alike.
 * `lost`: the engine's fault (it died, hung or went mute); another attempt may succeed.
 * `disk_failed`: the machine's fault, whose disk did not take the files of the run; another machine may. The reason is a part
 * of a sentence.
 */
export type EngineResult =
  | { status: 'succeeded' }
  | { status: 'failed'; failure: EngineFailure }
  | { status: 'interrupted' }
  | { status: 'lost'; reason: string }
  | { status: 'disk_failed'; reason: string };

export interface EngineHealth {
  ready: boolean;
  /** Why it is not ready, for an operator; null when it is. */
  problem: string | null;
  version: string;
  /** Models held warm, by the file name that loader nodes use. */
  residentModels: string[];
}

export interface EngineRunContext {
  /**
   * Aborting asks the engine to interrupt the run; `run` then settles within the engine's bound. A signal of this run alone: others follow
   * it, and what is noted of them on it goes with it.
   */
  signal: AbortSignal;
  /** Called in order, never after `run` has settled. If it throws, it is called no more: the run is interrupted, and `lost`. */
  onEvent(event: EngineEvent): void;
}

/**
 * Runs workflows, one at a time per instance. The port between Millrace and what computes; every implementation
 * passes `engine.conformance.ts`.
 */
export interface Engine {
  readonly kind: 'cpu' | 'comfyui';
  /** Bring the engine up. Rejects with a sentence for an operator when it cannot be. */
  start(): Promise<void>;
  /** The node classes it can run. */
  catalogue(): Promise<NodeCatalogue>;
  /** Run one workflow. Never rejects: what goes wrong is in the result. */
  run(work: EngineWork, context: EngineRunContext): Promise<EngineResult>;
  health(): Promise<EngineHealth>;
  /** Replace a process or thread that ignored an interrupt. Everything that still ran in it is gone afterwards. */
  reset(): Promise<void>;
  close(): Promise<void>;
}
