/** A posted node, as ComfyUI holds it. */
export interface PostedNode {
  class_type: string;
  inputs: Record<string, unknown>;
}

export type PostedGraph = Record<string, PostedNode>;

/** What ComfyUI takes for a link: a list of two, a text and a number. */
export function isLink(value: unknown): value is [string, number] {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === 'string' && typeof value[1] === 'number';
}

/** A node added by an expansion knows whose it is. */
export interface LivingNode extends PostedNode {
  displayId: string;
  parentId: string | null;
  realId: string;
}

/** The posted graph and what expansions add to it while it runs. */
export class LivingGraph {
  private readonly nodes = new Map<string, LivingNode>();

  constructor(graph: PostedGraph) {
    for (const [id, node] of Object.entries(graph)) {
      this.nodes.set(id, { ...node, displayId: id, parentId: null, realId: id });
    }
  }

  get(id: string): LivingNode {
    const node = this.nodes.get(id);
    if (!node) throw new Error(`KeyError: ${id}`);
    return node;
  }

  get ids(): string[] {
    return [...this.nodes.keys()];
  }

  add(id: string, node: PostedNode, parentId: string): void {
    const parent = this.get(parentId);
    this.nodes.set(id, { ...node, displayId: parent.displayId, parentId, realId: parent.realId });
  }

  linksOf(id: string): string[] {
    return Object.values(this.get(id).inputs).flatMap((value) => (isLink(value) ? [value[0]] : []));
  }
}
