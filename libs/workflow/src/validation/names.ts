import { GRAPH_NAME_LENGTH, type NodeErrorReason } from '@millrace/contracts';
import { member, type JsonNode } from '../json';
import { shown, type FaultList } from './faults';

// PostgreSQL keeps neither NUL nor half a surrogate pair, and outputs are kept under the id of their node.
const UNSTORABLE = /[\0\p{Cs}]/u;

/** Reports ids that cannot be stored, and names that are too long. Returns whether every name is short enough to be shown. */
export function reportNames(root: JsonNode & { kind: 'object' }, faults: FaultList): boolean {
  let short = true;
  for (const { key: id, value } of root.entries) {
    const faultOfId = tooLong('The id of the node', id);
    if (faultOfId !== null) faults.add(shown(id), '', ABOVE, faultOfId);
    else if (UNSTORABLE.test(id)) faults.add(id, '', 'invalid_type', UNSTORABLE_ID);
    const faultsOfNode = namesTooLong(value);
    for (const { field, message } of faultsOfNode) faults.add(shown(id), field, ABOVE, message);
    if (faultOfId !== null || faultsOfNode.length > 0) short = false;
    if (faults.isFull) break;
  }
  return short;
}

const ABOVE: NodeErrorReason = 'above_max';
const UNSTORABLE_ID = 'The id of a node can contain neither NUL nor half a surrogate pair; use another.';

function namesTooLong(node: JsonNode): { field: string; message: string }[] {
  const found: { field: string; message: string }[] = [];
  const classType = member(node, 'class_type');
  const ofClass = classType?.kind === 'string' ? tooLong('The class name', classType.value) : null;
  if (ofClass !== null) found.push({ field: 'class_type', message: ofClass });
  const inputs = member(node, 'inputs');
  if (inputs?.kind !== 'object') return found;
  for (const { key } of inputs.entries) {
    const message = tooLong('The name of the input', key);
    if (message !== null) found.push({ field: shown(key), message });
  }
  return found;
}

function tooLong(what: string, name: string): string | null {
  if (name.length <= GRAPH_NAME_LENGTH) return null;
  return `${what} has ${name.length} characters; at most ${GRAPH_NAME_LENGTH} are accepted. Use a shorter one.`;
}
