import type { FaultList } from './faults';
import { member, members, type JsonNode } from '../json';
import type { WorkflowGraph } from '../graph';

/** Reports every node that isn't an object with a string `class_type` and an object `inputs`; returns their ids. */
export function reportUnsoundNodes(graph: WorkflowGraph, faults: FaultList): ReadonlySet<string> {
  const unsound = new Set<string>();
  if (graph.root.kind !== 'object' || graph.root.entries.length === graph.nodes.size) return unsound;
  for (const [id, value] of members(graph.root)) {
    if (graph.nodes.has(id)) continue;
    unsound.add(id);
    reportShape(id, value, faults);
  }
  return unsound;
}

function reportShape(id: string, value: JsonNode, faults: FaultList): void {
  if (value.kind !== 'object') {
    faults.add(id, '', 'not_an_object', 'A node must be an object with class_type and inputs.');
    return;
  }
  const classType = member(value, 'class_type');
  if (!classType) {
    faults.add(id, 'class_type', 'missing_input', 'class_type is required: the name of the class of the node.');
  } else if (classType.kind !== 'string') {
    faults.add(id, 'class_type', 'invalid_type', 'class_type must be a string: the name of the class of the node.');
  }
  const inputs = member(value, 'inputs');
  if (!inputs) {
    faults.add(id, 'inputs', 'missing_input', 'inputs is required; a node that takes none has {}.');
  } else if (inputs.kind !== 'object') {
    faults.add(id, 'inputs', 'not_an_object', 'inputs must be an object that maps input names to values.');
  }
}
