import type { InputSpec, NodeCatalogue } from '@millrace/contracts';
import { classOf, inputOf, isLinkedPath, limitsOfRuns, linkOf, typesMeet, type GraphNode } from '../graph';
import { shown } from './faults';
import type { Inspection } from './inspection';
import { sliceOf, type JsonNode } from '../json';

/** A list that stands where a link is read. */
interface GivenLink {
  node: GraphNode;
  /** The input's name. */
  name: string;
  value: JsonNode;
  /** Absent for an input that the class doesn't declare: any type will do. */
  spec?: InputSpec;
}

/** True for a list that an engine follows as a link when it runs, at any input. */
export function isFollowedAsLink(value: JsonNode): boolean {
  if (value.kind !== 'array' || value.items.length !== 2) return false;
  const [nodeId, slot] = value.items;
  return nodeId?.kind === 'string' && (slot?.kind === 'number' || slot?.kind === 'boolean');
}

/**
 * Reports a link that isn't `[node id, output slot]`, or names no node, no output of it, or one of the wrong type. Python
 * would take a negative or boolean slot for an index; both are refused, as nobody means them.
 */
export function reportLink(given: GivenLink, inspection: Inspection): void {
  const { node, name, value } = given;
  const { graph, faults, unsound } = inspection;
  const [id, slot] = value.kind === 'array' && value.items.length === 2 ? value.items : [];
  if (id?.kind !== 'string' || slot?.kind !== 'number') {
    const written = shown(sliceOf(value, graph.text));
    const cure = 'a link is ["node id", output slot], and a list that is a value is written {"__value__": [...]}';
    faults.add(node.id, name, 'bad_link', `${name} is a list but no link, ${written}: ${cure}.`);
  } else if (!graph.nodes.has(id.value) && !unsound.has(id.value)) {
    const target = shown(JSON.stringify(id.value));
    faults.add(node.id, name, 'bad_link', `${name} is linked to node ${target}, which the workflow doesn't have.`);
  } else if (!linkOf(value)) {
    const message = `${name} is linked to output slot ${shown(slot.raw)}, which must be a whole number from 0.`;
    faults.add(node.id, name, 'bad_output_slot', message);
  } else {
    reportOutput(given, inspection);
  }
}

function reportOutput({ node, name, value, spec }: GivenLink, { graph, catalogue, faults }: Inspection): void {
  const link = linkOf(value);
  const target = link && graph.nodes.get(link.nodeId);
  const targetClass = target && classOf(catalogue, target.classType);
  if (!targetClass) return;
  const { outputs } = targetClass;
  const output = outputs[link.slot];
  if (!output) {
    const slots = outputs.length === 1 ? '1 output, slot 0' : `${outputs.length} outputs, counted from slot 0`;
    const message = `${name} is linked to output slot ${link.slot} of ${described(target)}, which has ${slots}.`;
    faults.add(node.id, name, 'bad_output_slot', message);
  } else if (spec && !typesMeet(output.type, spec.type)) {
    const message = `${name} takes ${spec.type}, but output slot ${link.slot} of ${described(target)} gives ${output.type}.`;
    faults.add(node.id, name, 'type_mismatch', message);
  } else if (limitsOfRuns(catalogue)?.literalFiles) {
    const message = linkedFileFault(node, name, output.type, catalogue);
    if (message !== null) faults.add(node.id, name, 'bad_link', message);
  }
}

function linkedFileFault(
  { classType }: GraphNode,
  name: string,
  type: string,
  catalogue: NodeCatalogue,
): string | null {
  const nodeClass = classOf(catalogue, classType);
  const spec = nodeClass && inputOf(nodeClass, name);
  // An input that the class does not know is not passed to the node.
  if (spec === undefined && nodeClass?.acceptsUnknownInputs !== true) return null;
  if (spec?.file !== undefined) {
    return `${name} names an input file and takes no link: give the reference to the asset itself, {"__type": "core/ASSET", "info": {"id": "<asset id>"}}.`;
  }
  return isLinkedPath(classType, name, spec, type)
    ? `${name} is a path, which must stand in the workflow itself: write it there, in place of the link to a text.`
    : null;
}

function described({ id, classType }: GraphNode): string {
  return `node ${shown(JSON.stringify(id))} (${classType})`;
}
