import type { NodeCatalogue } from '@millrace/contracts';
import { classOf, inputOf } from './catalogue';
import { linkOf, type GraphNode, type Link, type WorkflowGraph } from './workflow';

/** A link and the input that holds it. */
export interface NodeLink extends Link {
  input: string;
  /** The node's class knows the input; a class that is unknown, or that accepts unknown inputs, knows every one. */
  isDeclared: boolean;
}

/** The links of a node, sound in shape; whether their targets exist is for the caller to see. */
export function linksOf(node: GraphNode, catalogue: NodeCatalogue): NodeLink[] {
  const nodeClass = classOf(catalogue, node.classType);
  const knowsAll = !nodeClass || nodeClass.acceptsUnknownInputs === true;
  const links: NodeLink[] = [];
  for (const [input, value] of node.inputs) {
    const link = linkOf(value);
    if (!link) continue;
    const isDeclared = knowsAll || inputOf(nodeClass, input) !== undefined;
    links.push({ input, nodeId: link.nodeId, slot: link.slot, isDeclared });
  }
  return links;
}

/** Which links count: `every` one, or those of inputs that the node's class declares. */
export type LinkChoice = 'every' | 'declared';

/** What is known of a node's links. */
interface KnownLinks {
  links: readonly NodeLink[];
  targets: Record<LinkChoice, readonly string[]>;
}

const targetOf = ({ nodeId }: NodeLink): string => nodeId;

/** The links of a graph, each node's read once. */
export class GraphLinks {
  private readonly byNode = new Map<string, KnownLinks>();

  constructor(
    private readonly graph: WorkflowGraph,
    private readonly catalogue: NodeCatalogue,
  ) {}

  of(id: string): readonly NodeLink[] {
    return this.known(id).links;
  }

  /** The nodes that a node's links point at; targets that are no node are passed over. */
  targets(id: string, choice: LinkChoice): readonly string[] {
    return this.known(id).targets[choice];
  }

  /** The roots and all that they reach, in the order of discovery. */
  ancestors(roots: Iterable<string>, choice: LinkChoice): Set<string> {
    const reached = new Set(roots);
    // A Set is walked in order of insertion, additions of the walk included.
    for (const id of reached) for (const target of this.targets(id, choice)) reached.add(target);
    return reached;
  }

  private known(id: string): KnownLinks {
    let known = this.byNode.get(id);
    if (known === undefined) {
      known = this.read(id);
      this.byNode.set(id, known);
    }
    return known;
  }

  private read(id: string): KnownLinks {
    const node = this.graph.nodes.get(id);
    const links = node ? linksOf(node, this.catalogue) : [];
    const every = links.filter(({ nodeId }) => this.graph.nodes.has(nodeId));
    const declared = every.filter(({ isDeclared }) => isDeclared);
    return { links, targets: { every: every.map(targetOf), declared: declared.map(targetOf) } };
  }
}
