import type { PostedGraph } from './graph';
import type { SavedFile } from '../io/server-folders';

/** A batch of pictures of one colour: all that pictures are here. */
export interface Pictures {
  width: number;
  height: number;
  colour: number;
  count: number;
}

/** What a node is given when it runs. */
export interface NodeCall {
  id: string;
  inputs: Readonly<Record<string, unknown>>;
  /** `--preview-method` is not `none`: samplers picture their steps. */
  picturesSteps: boolean;
  /** One step of a progress bar; rejects when the run is to be interrupted. */
  progress: (value: number, max: number, picture?: { format: 'JPEG' | 'PNG'; bytes: Buffer }) => Promise<void>;
  /** A place where a test can hold the node; never a place where it notices an interrupt. */
  idle: () => Promise<void>;
  /** As long as it says where the simulator keeps time; else no time at all. */
  pause: (seconds: number) => Promise<void>;
  /** `idle`, and then `pause`. */
  sleep: (seconds: number) => Promise<void>;
  /** A `print`: held back until something is logged. */
  print: (text: string) => void;
  /** A line of the log: sent at once, with what was held back. */
  log: (text: string) => void;
  /** A text that the editor shows at the node while it runs. */
  showProgress: (text: string) => void;
  /** Saves a file under ComfyUI's naming rules. */
  save: (type: 'output' | 'temp', prefix: string, extension: string, bytes: Buffer) => SavedFile;
  readInput: (name: string) => Buffer;
}

export interface NodeResult {
  values?: unknown[];
  /** What the node reports, by kind. */
  ui?: Record<string, unknown>;
  /** Nodes that take this one's place, and where its outputs come from. */
  expand?: { graph: PostedGraph; values: unknown[] };
}

/** An output that was blocked: what depends on it does not run. */
export class Blocker {
  constructor(readonly message: string | null) {}
}

/** An exception of a node; `raises` is the Python class. */
export class NodeRaised extends Error {
  constructor(
    readonly raises: string,
    message: string,
  ) {
    super(message);
  }
}

/** What ends the thread that runs prompts, because it is no `Exception`. */
export class SystemExit extends Error {}

/** What ends the whole process: C++ met an exception that nobody catches. */
export class ProcessAbort extends SystemExit {}

export interface NodeClass {
  /** Inputs as `/object_info` has them, as JSON text: bounds exceed what a number of JavaScript holds. */
  required?: Record<string, string>;
  optional?: Record<string, string>;
  outputs?: string[];
  outputNode?: boolean;
  isAsync?: boolean;
  category?: string;
  /** Makes the result of an unchanged node depend on this too. */
  changed?: (inputs: Readonly<Record<string, unknown>>, readInput: (name: string) => Buffer) => unknown;
  /** The complaint about inputs that are there and of the right type, or null. */
  validate?: (inputs: Readonly<Record<string, unknown>>, hasInput: (name: string) => boolean) => string | null;
  run(call: NodeCall): Promise<NodeResult> | NodeResult;
}

/** What ComfyUI adds to the message of an exception that it takes for a lack of memory on the GPU; empty for any other. */
export function memoryTips(raises: string, message: string, isLater: boolean): string {
  const isAccelerator = isLater && raises === 'torch.AcceleratorError' && message.includes('out of memory');
  if (raises !== 'torch.OutOfMemoryError' && !isAccelerator) return '';
  return 'This error means you ran out of memory on your GPU.\n\nTIPS: a text of some length.';
}
