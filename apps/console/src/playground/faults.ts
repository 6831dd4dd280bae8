import type { NodeClassView, NodeErrors, NodeInputView } from '@millrace/contracts';
import type { GraphInput, GraphNode } from '../graph';

/** What is wrong with each input, by node and input; the node's own fault has the input ''. */
export type Faults = ReadonlyMap<string, ReadonlyMap<string, string>>;

/** The reasons of the API (wire supplement, section 2) for people. */
const REASONS: Record<string, string> = {
  missing_input: 'This input is required.',
  unknown_node_class: 'No worker here has this node. Use another one, or another deployment.',
  bad_link: 'The node that this input comes from is not in the graph.',
  bad_output_slot: 'The node that this input comes from has no such output.',
  type_mismatch: 'The node that this input comes from makes another type.',
  invalid_type: 'This value has the wrong type.',
  below_min: 'This value is too small.',
  above_max: 'This value is too large.',
  not_in_list: 'This value is not one of the choices.',
  dependency_cycle: 'The nodes depend on each other in a circle.',
  no_outputs: 'The graph has no node that makes an output.',
};

/** What the form itself can see; the API checks everything when the graph is submitted. */
export function faultsOf(nodes: readonly GraphNode[], classes: Readonly<Record<string, NodeClassView>>): Faults {
  const faults = new Map<string, Map<string, string>>();
  for (const node of nodes) {
    const nodeClass = classes[node.classType];
    const found = nodeClass === undefined ? [['', 'unknown_node_class']] : inputFaults(node, nodeClass);
    if (found.length > 0)
      faults.set(node.id, new Map(found.map(([name = '', reason = '']) => [name, sentence(reason)])));
  }
  return faults;
}

/** The faults that the API found. */
export function faultsOfAnswer(errors: NodeErrors): Faults {
  return new Map(
    Object.entries(errors).map(([id, list]) => [
      id,
      new Map(list.map(({ field, reason }) => [field ?? '', sentence(reason)])),
    ]),
  );
}

const sentence = (reason: string): string => REASONS[reason] ?? reason;

function inputFaults(node: GraphNode, nodeClass: NodeClassView): string[][] {
  const given = new Map(node.inputs.map((input) => [input.name, input]));
  return Object.entries(nodeClass.inputs).flatMap(([name, spec]) => {
    const input = given.get(name);
    if (input === undefined) return spec.required ? [[name, 'missing_input']] : [];
    const reason = input.link === null ? valueFault(input, spec) : null;
    return reason === null ? [] : [[name, reason]];
  });
}

function valueFault({ json }: GraphInput, { type, min, max, options, file }: NodeInputView): string | null {
  if (file !== undefined) return json === '""' || json === 'null' ? 'missing_input' : null;
  if (type === 'INT' || type === 'FLOAT') {
    const form = type === 'INT' ? /^-?\d+(?:\.0+)?$/ : /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
    if (!form.test(json)) return 'invalid_type';
    if (min !== undefined && isLess(json, min)) return 'below_min';
    if (max !== undefined && isLess(max, json)) return 'above_max';
  }
  if (type === 'COMBO' && options !== undefined && !options.some((option) => JSON.stringify(option) === json)) {
    return json.startsWith('[') ? null : 'not_in_list';
  }
  return null;
}

/** Integers are compared as they are, with all of their digits. */
function isLess(one: string, other: string): boolean {
  const whole = /^-?\d+$/;
  return whole.test(one) && whole.test(other) ? BigInt(one) < BigInt(other) : Number(one) < Number(other);
}
