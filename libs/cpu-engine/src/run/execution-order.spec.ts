import { parseWorkflow } from '@millrace/workflow';
import { bindNode, type BoundNode } from './bound-node';
import { ExecutionOrder } from './execution-order';
import { CPU_NODES } from '../nodes/registry';

/** A node per letter: `a` is a picture, `b<a` inverts one, `c<ab` batches two, and capitals save one. */
function boundNodes(nodes: string[]): Map<string, BoundNode> {
  const graph = Object.fromEntries(
    nodes.map((text) => {
      const [id = '', from = ''] = text.split('<');
      const [one, two] = [...from].map((source) => [source, 0]);
      if (id === id.toUpperCase()) return [id, node('SaveImage', { images: one, filename_prefix: id })];
      if (two) return [id, node('ImageBatch', { image1: one, image2: two })];
      return [id, one ? node('ImageInvert', { image: one }) : node('EmptyImage', {})];
    }),
  );
  const parsed = parseWorkflow(JSON.stringify(graph)).nodes;
  return new Map([...parsed].map(([id, each]) => [id, bindNode(each, CPU_NODES.get(each.classType) as never)]));
}

function node(class_type: string, inputs: Record<string, unknown>): object {
  return { class_type, inputs };
}

function orderOf(nodes: string[], done = ''): string {
  const bound = boundNodes(nodes);
  const outputs = [...bound.keys()].filter((id) => id === id.toUpperCase());
  const order = new ExecutionOrder(bound, outputs, (id) => done.includes(id));
  let text = '';
  for (let id = order.next(); id !== undefined; id = order.next()) text += id;
  return text;
}

describe('the order of nodes', () => {
  it('runs every node after those it depends on, and saves as soon as it can', () => {
    expect(orderOf(['a', 'b<a', 'c<b', 'X<a', 'Y<c'])).toBe('aXbcY');
  });

  it('goes first where the next output is nearest', () => {
    expect(orderOf(['a', 'b<a', 'c<b', 'd', 'X<c', 'Y<d'])).toBe('dYabcX');
  });

  it('runs a node once, however many need it', () => {
    expect(orderOf(['a', 'b<a', 'c<ab', 'X<c', 'Y<b'])).toBe('abYcX');
  });

  it('leaves out what is done, and what only that needed', () => {
    expect(orderOf(['a', 'b<a', 'c<b', 'X<c', 'Y<a'], 'c')).toBe('XaY');
  });

  it('goes through a chain of thousands', () => {
    const chain = Array.from({ length: 5000 }, (_, i) => `n${i}`);
    const nodes = new Map(
      chain.map((id, i) => [
        id,
        {
          ...(boundNodes(['a']).get('a') as BoundNode),
          id,
          sources: i > 0 ? linked(chain[i - 1] as string) : new Map(),
        },
      ]),
    );
    const order = new ExecutionOrder(nodes, ['n4999'], () => false);
    let count = 0;
    while (order.next() !== undefined) count += 1;
    expect(count).toBe(5000);
  });
});

function linked(to: string): BoundNode['sources'] {
  return new Map([['image', { link: { nodeId: to, slot: 0 } }]]);
}
