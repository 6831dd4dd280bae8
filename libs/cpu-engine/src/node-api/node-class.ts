import type { NodeClass, OutputSpec } from '@millrace/contracts';
import type { NodeContext } from './node-context';
import type { Input } from './node-input';
import type { Value } from './value';

type Inputs = Record<string, Input<unknown>>;
type Taken<I extends Inputs> = { [K in keyof I]: I[K] extends Input<infer T> ? T : never };
type TakenLists<I extends Inputs> = { [K in keyof I]: Taken<I>[K][] };

/** A value per output, in order; for an output that is a list, its values. */
export type NodeResult = (Value | Value[])[];

interface Description {
  /** The class name that graphs use. */
  name: string;
  displayName?: string;
  category: string;
  /** One sentence. */
  description: string;
  outputs?: OutputSpec[];
  /** What a run is for: such a node runs always, others only if one of these needs them. */
  outputNode?: boolean;
  /** False where equal inputs may make other outputs. */
  deterministic?: false;
}

/** A node class: its catalogue entry and its function. */
export interface CpuNode {
  readonly name: string;
  readonly entry: NodeClass;
  readonly inputs: ReadonlyMap<string, Input<unknown>>;
  /** The function takes the lists that arrive at its inputs whole, instead of running once per element. */
  readonly takesLists: boolean;
  /** `inputs` holds what each `Input.take` gave (lists of it if `takesLists`); inputs not given are absent. */
  run(inputs: Record<string, unknown>, context: NodeContext): NodeResult | Promise<NodeResult>;
}

/** Declare a node class whose function runs once per element of the lists that arrive. */
export function defineNode<I extends Inputs>(
  node: Description & {
    inputs: I;
    run(inputs: Taken<I>, context: NodeContext): NodeResult | Promise<NodeResult>;
  },
): CpuNode {
  return described(node, false, (inputs, context) => node.run(inputs as Taken<I>, context));
}

/** Declare a node class whose function takes the lists that arrive whole. */
export function defineListNode<I extends Inputs>(
  node: Description & {
    inputs: I;
    run(inputs: TakenLists<I>, context: NodeContext): NodeResult | Promise<NodeResult>;
  },
): CpuNode {
  return described(node, true, (inputs, context) => node.run(inputs as TakenLists<I>, context));
}

/** An output of a node class; `name` defaults to the type. */
export function output(type: string, name = type, list = false): OutputSpec {
  return { type, name, list };
}

function described(node: Description & { inputs: Inputs }, takesLists: boolean, run: CpuNode['run']): CpuNode {
  const {
    name,
    displayName = name,
    category,
    description,
    outputs = [],
    outputNode = false,
    deterministic = true,
  } = node;
  const inputs = new Map(Object.entries(node.inputs));
  const specs = Object.fromEntries([...inputs].map(([key, { spec }]) => [key, spec]));
  return {
    name,
    entry: {
      displayName,
      category,
      description,
      inputs: specs,
      outputs,
      outputNode,
      ...(deterministic ? { deterministic } : {}),
    },
    inputs,
    takesLists,
    run,
  };
}
