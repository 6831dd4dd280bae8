import fc from 'fast-check';
import type { NodeCatalogue } from '@millrace/contracts';
import { neededNodes, outputNodes, topologicalOrder } from './dependencies';
import { realCatalogue } from '../fixtures/catalogue';
import { graphText, nodeText } from '../fixtures/graph';
import { linksOf } from './links';
import { parseWorkflow } from './workflow';

const real = realCatalogue();
const invert = (from: string): string => nodeText('ImageInvert', { image: [from, 0] });
const save = (from: string): string => nodeText('SaveImage', { images: [from, 0] });

/** One class, an output node, whose every input may be a link. */
const anything: NodeCatalogue = {
  A: {
    displayName: '',
    category: '',
    description: '',
    inputs: {},
    outputs: [],
    outputNode: true,
    acceptsUnknownInputs: true,
  },
};

describe('needed nodes', () => {
  it('are output nodes and what they depend on through inputs that their classes declare', () => {
    const graph = parseWorkflow(
      graphText({
        a: nodeText('EmptyImage', { zz: ['spare', 0] }),
        b: invert('a'),
        c: save('b'),
        spare: nodeText('EmptyImage'),
        dead: invert('b'),
        lost: nodeText('SaveImage', { images: ['nowhere', 0] }),
      }),
    );
    expect(outputNodes(graph, real)).toEqual(['c', 'lost']);
    expect([...neededNodes(graph, real)].sort()).toEqual(['a', 'b', 'c', 'lost']);
  });

  it('include all that a node of a class that accepts unknown inputs is linked to', () => {
    const graph = parseWorkflow(graphText({ '1': nodeText('A', { 'x.0': ['2', 0], y: 5 }), '2': nodeText('B') }));
    expect([...neededNodes(graph, anything)]).toEqual(['1', '2']);
    const node = graph.nodes.get('1');
    expect(node && linksOf(node, anything)).toEqual([{ input: 'x.0', nodeId: '2', slot: 0, isDeclared: true }]);
  });
});

describe('a topological order', () => {
  it('holds each needed node once, after all it depends on', () => {
    const acyclic = fc.array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(acyclic, (links) => {
        const nodes = links.map((targets, at): [string, string] => {
          const inputs = at === 0 ? [] : targets.map((target, input) => [`i${input}`, [String(target % at), 0]]);
          return [String(at), nodeText('A', Object.fromEntries(inputs) as Record<string, unknown>)];
        });
        const graph = parseWorkflow(graphText(nodes.reverse()));
        const order = topologicalOrder(graph, anything);
        expect([...order].sort()).toEqual([...graph.nodes.keys()].sort());
        for (const node of graph.nodes.values()) {
          for (const { nodeId } of linksOf(node, anything)) {
            expect(order.indexOf(nodeId)).toBeLessThan(order.indexOf(node.id));
          }
        }
      }),
    );
  });

  it('of a chain of 100,000 nodes needs no deep stack', () => {
    const chain = Array.from({ length: 100_000 }, (_, at): [string, string] => [
      String(at),
      nodeText('A', at === 0 ? {} : { x: [String(at - 1), 0] }),
    ]);
    const order = topologicalOrder(parseWorkflow(graphText(chain.reverse()), { maxValues: 10_000_000 }), anything);
    expect([order.length, order[0], order.at(-1)]).toEqual([100_000, '0', '99999']);
  });

  it('does not exist for a cycle', () => {
    expect(() =>
      topologicalOrder(parseWorkflow(graphText({ a: invert('b'), b: invert('a'), c: save('a') })), real),
    ).toThrow(/depend on one another in a cycle/);
    expect(() => topologicalOrder(parseWorkflow(graphText({ a: invert('a'), c: save('a') })), real)).toThrow(
      RangeError,
    );
  });
});
