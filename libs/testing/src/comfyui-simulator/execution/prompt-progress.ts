import type { LivingGraph } from '../nodes/graph';

type NodeState = 'running' | 'finished';

/** The state of every node that has started: what `progress_state` repeats with each change. */
export class PromptProgress {
  private readonly nodes = new Map<string, { value: number; max: number; state: NodeState }>();

  constructor(
    private readonly promptId: string,
    private readonly graph: LivingGraph,
    private readonly send: (data: unknown) => void,
  ) {}

  start(id: string): void {
    this.change(id, 0, 1, 'running');
  }

  update(id: string, value: number, max: number): void {
    this.change(id, value, max, 'running');
  }

  finish(id: string): void {
    const max = this.nodes.get(id)?.max ?? 1;
    this.change(id, max, max, 'finished');
  }

  private change(id: string, value: number, max: number, state: NodeState): void {
    this.nodes.set(id, { value, max, state });
    const nodes = [...this.nodes].map(([nodeId, progress]) => {
      const { displayId, parentId, realId } = this.graph.get(nodeId);
      const ids = { display_node_id: displayId, parent_node_id: parentId, real_node_id: realId };
      return [nodeId, { ...progress, node_id: nodeId, prompt_id: this.promptId, ...ids }];
    });
    this.send({ prompt_id: this.promptId, nodes: Object.fromEntries(nodes) as unknown });
  }
}
