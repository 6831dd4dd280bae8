import type { NodeClassView } from '@millrace/contracts';
import { referenceTo, referredAsset, withAsset } from '../../apps/console/src/playground/asset-reference';
import { faultsOfAnswer } from '../../apps/console/src/playground/faults';
import { randomSeed } from '../../apps/console/src/playground/random-seed';

const CLASSES: Record<string, NodeClassView> = {
  Grow: {
    display_name: 'Grow',
    category: '',
    description: '',
    inputs: {
      seed: { type: 'INT', required: true, min: '0', max: '18446744073709551615' },
      scale: { type: 'FLOAT', required: true, min: '0', max: '1.5' },
      palette: { type: 'COMBO', required: false, options: ['ember', 7] },
      picture: { type: 'COMBO', required: false, file: 'image' },
    },
    outputs: [],
    output_node: false,
  },
};

it('faults are those that the API found, in its words', () => {
  const message = 'seed must be at least 0, not -1.';
  const faults = faultsOfAnswer({ '1': [{ field: 'seed', reason: 'below_min', message }] });
  expect(faults.get('1')?.get('seed')).toBe(message);
});

it('a random seed stays within its bounds', () => {
  for (let nth = 0; nth < 50; nth += 1) {
    expect(Number(randomSeed('6'))).toBeLessThan(7);
    expect(BigInt(randomSeed('18446744073709551615')) < 2n ** 64n).toBe(true);
    expect(BigInt(randomSeed(undefined)) < 2n ** 32n).toBe(true);
  }
});

describe('an asset that is to be used', () => {
  const ID = '0199aaaa-0000-7000-8000-000000000000';
  const graph = '{"1": {"class_type": "Grow", "inputs": {"seed": 18446744073709551615, "picture": "a.png"}}}';

  it('becomes the first input that reads such a file; nothing else of the graph changes', () => {
    const text = withAsset(graph, CLASSES, { id: ID, content_type: 'image/png' });
    expect(text).toBe(graph.replace('"a.png"', referenceTo(ID)));
    expect(referredAsset(referenceTo(ID))).toBe(ID);
  });

  it('leaves a graph as it is that reads no such file', () => {
    expect(withAsset(graph, CLASSES, { id: ID, content_type: 'video/mp4' })).toBe(graph);
    expect(withAsset(graph, {}, { id: ID, content_type: 'image/png' })).toBe(graph);
  });

  it.each([[null], ['"a.png"'], ['7'], ['null'], ['{"info": {}}'], ['["2", 0]']])('is not named by %s', (json) => {
    expect(referredAsset(json)).toBeUndefined();
  });
});
