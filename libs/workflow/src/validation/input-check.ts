import type { InputSpec, NodeClass } from '@millrace/contracts';
import { inputOf, inputTypeOf, unwrapped, type GraphNode } from '../graph';
import { shown } from './faults';
import type { Inspection } from './inspection';
import type { JsonNode } from '../json';
import { isFollowedAsLink, reportLink } from './link-check';
import { literalFault } from './literal';

/** Reports what is wrong with the inputs of a node that a run computes. */
export function judgeInputs(node: GraphNode, nodeClass: NodeClass, inspection: Inspection): void {
  for (const name of Object.keys(nodeClass.inputs)) {
    const spec = nodeClass.inputs[name];
    if (!spec?.required || node.inputs.has(name)) continue;
    inspection.faults.add(node.id, name, 'missing_input', `${name} (${spec.type}) is required and was not given.`);
  }
  for (const [name, value] of node.inputs) {
    const spec = inputOf(nodeClass, name);
    if (spec) judgeInput(node, name, value, spec, inspection);
    else checkUndeclared(node, name, value, inspection);
  }
}

/** An input that the class doesn't know is ignored, unless an engine would follow it as a link. */
export function checkUndeclared(node: GraphNode, name: string, value: JsonNode, inspection: Inspection): void {
  if (isFollowedAsLink(value)) reportLink({ node, name, value }, inspection);
}

function judgeInput(node: GraphNode, name: string, value: JsonNode, spec: InputSpec, inspection: Inspection): void {
  const isList = value.kind === 'array' && spec.multiple === true && !isFollowedAsLink(value);
  if (value.kind === 'array' && !isList) {
    reportLink({ node, name, value, spec }, inspection);
    return;
  }
  const { graph, faults } = inspection;
  const literal = unwrapped(value);
  if (isFollowedAsLink(literal) && !isConverted(spec)) {
    const message = `${name} holds a list that would be followed as a link once unwrapped: give the link itself.`;
    faults.add(node.id, name, 'bad_link', message);
    return;
  }
  if (inspection.assetsOnly && spec.file !== undefined && literal.kind === 'string') {
    const message =
      `${name} names the file "${shown(literal.value)}", which is not here: upload it, and refer to it as ` +
      '{"__type": "core/ASSET", "info": {"id": "<asset id>"}}.';
    faults.add(node.id, name, 'not_in_list', message);
    return;
  }
  const fault = literalFault({ value: literal, text: graph.text, name, spec });
  if (fault) faults.add(node.id, name, fault.reason, fault.message);
}

/** An engine turns the value of such an input into a scalar before it looks for links among the values. */
function isConverted(spec: InputSpec): boolean {
  const { kind } = inputTypeOf(spec);
  return kind !== 'other' && kind !== 'COMBO';
}
