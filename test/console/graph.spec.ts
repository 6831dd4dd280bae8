import { graphTextOf, nodeStates, readGraph, sawNode, withInput } from '../../apps/console/src/graph';

const TEXT = `{"1": {"class_type": "Grow", "inputs": {"seed": 18446744073709551615, "scale": 1.0}, "_meta": {"title": "Coral"}},
  "2": {"class_type": "Save", "inputs": {"images": ["1", 0], "name": "a\\u00e9"}}, "note": 7}`;
const nodesOf = (text: string) => {
  const graph = readGraph(text);
  if (!('nodes' in graph)) throw new Error(graph.fault);
  return graph.nodes;
};

describe('a graph that the console reads', () => {
  it('has the nodes with their links and values, digit for digit', () => {
    expect(nodesOf(TEXT)).toEqual([
      {
        id: '1',
        classType: 'Grow',
        title: 'Coral',
        inputs: [
          { name: 'seed', link: null, json: '18446744073709551615' },
          { name: 'scale', link: null, json: '1.0' },
        ],
      },
      {
        id: '2',
        classType: 'Save',
        title: null,
        inputs: [
          { name: 'images', link: { nodeId: '1', slot: 0 }, json: '["1", 0]' },
          { name: 'name', link: null, json: '"a\\u00e9"' },
        ],
      },
    ]);
  });

  it.each([
    ['{"nodes": [], "links": []}', 'ui_format'],
    ['{"1": {"class_type": ', 'not_json'],
    ['[1]', 'not_an_object'],
    ['{}', 'empty'],
    ['', 'not_json'],
  ])('is refused: %s', (text, fault) => {
    expect(readGraph(text)).toEqual({ fault });
  });

  it('changes at one input and nowhere else', () => {
    expect(withInput(TEXT, '1', 'seed', '7')).toBe(TEXT.replace('18446744073709551615', '7'));
    expect(withInput(TEXT, '1', 'steps', '20')).toBe(TEXT.replace('{"seed"', '{"steps": 20, "seed"'));
    expect(withInput('{"1":{"class_type":"A","inputs":{}}}', '1', 'x', '"y"')).toBe(
      '{"1":{"class_type":"A","inputs":{"x": "y"}}}',
    );
    expect(withInput(TEXT, '9', 'seed', '7')).toBe(TEXT);
  });

  it('is taken out of the answer or the body that it stands in', () => {
    expect(graphTextOf(`{"workflow":${TEXT},"format":"api"}`)).toBe(TEXT);
    expect(graphTextOf(TEXT)).toBe(TEXT);
    const named = '{"workflow": {"class_type": "A", "inputs": {}}}';
    expect(graphTextOf(named)).toBe(named);
  });
});

describe('the states of nodes', () => {
  const nodes = nodesOf(
    '{"1":{"class_type":"A"},"2":{"class_type":"B","inputs":{"x":["1",0]}},"3":{"class_type":"C","inputs":{"x":["2",0]}}}',
  );
  const job = { outputs: [], error: null, progress: null };
  const shown = (states: ReturnType<typeof nodeStates>) => [...states.values()].map(({ state, ms }) => [state, ms]);

  it('of a running job follow from its current node and what this page saw', () => {
    const progress = { value: 0.5, nodes_done: 1, nodes_total: 3, current_node: '2', step: 3, steps: 9 };
    const seen = sawNode(sawNode(new Map(), '1', 1_000), '2', 1_250);
    const states = nodeStates(nodes, { ...job, status: 'running', progress }, [], seen);
    expect([...states.values()].map(({ state }) => state)).toEqual(['done', 'running', 'waiting']);
    expect(states.get('1')?.ms).toBe(250);
    expect(states.get('2')?.steps).toEqual({ done: 3, all: 9 });
    const unseen = nodeStates(nodes, { ...job, status: 'running', progress }, [], new Map());
    expect(shown(unseen)).toEqual([
      ['done', null],
      ['running', null],
      ['waiting', null],
    ]);
  });

  it('of an ended job are those of its last attempt, and the node of the error has failed', () => {
    const error = { code: 'node_execution_error' as const, message: 'no', node_id: '2' };
    const times = [
      { node_id: '1', class_type: 'A', state: 'cached' as const, ms: 0 },
      { node_id: '2', class_type: 'B', state: 'running' as const, ms: null },
    ];
    const states = nodeStates(nodes, { ...job, status: 'failed', error }, times, new Map());
    expect(shown(states)).toEqual([
      ['cached', 0],
      ['failed', null],
      ['skipped', null],
    ]);
  });
});
