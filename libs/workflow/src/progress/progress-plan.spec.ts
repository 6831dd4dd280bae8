import { realCatalogue } from '../fixtures/catalogue';
import { graphText, nodeText } from '../fixtures/graph';
import { planProgress } from './progress-plan';
import { parseWorkflow } from '../graph/workflow';

const real = realCatalogue();

/** The weights of a graph in which a saver needs node `s`, the saver's own weight left out. */
function weights(nodes: Record<string, string>): Record<string, number> {
  const out = nodeText('SaveImage', { images: ['s', 0] });
  const plan = planProgress(parseWorkflow(graphText({ out, ...nodes })), real);
  expect(plan.totalWeight).toBe([...plan.nodes.values()].reduce((sum, { weight }) => sum + weight, 0));
  return Object.fromEntries([...plan.nodes].filter(([id]) => id !== 'out').map(([id, { weight }]) => [id, weight]));
}

describe('the plan of a run', () => {
  it('holds the nodes that the run computes, each of weight 1, with their classes', () => {
    const plan = planProgress(
      parseWorkflow(
        graphText({
          '1': nodeText('EmptyImage'),
          '2': nodeText('SaveImage', { images: ['1', 0] }),
          unused: nodeText('EmptyImage'),
        }),
      ),
      real,
    );
    expect(plan.totalWeight).toBe(2);
    expect([...plan.nodes].sort()).toEqual([
      ['1', { classType: 'EmptyImage', weight: 1 }],
      ['2', { classType: 'SaveImage', weight: 1 }],
    ]);
  });

  it.each([
    ['{"steps": 20}', 21],
    ['{"steps": "20"}', 21],
    ['{"steps": 20.7}', 21],
    ['{}', 21],
    ['{"steps": 0}', 1],
    ['{"steps": -5}', 1],
    ['{"steps": null}', 1],
    ['{"steps": 99999999999999999999}', 100_001],
    ['{"steps": ["nowhere", 0]}', 1],
    ['{"steps": ["s", 0]}', 1],
  ])('weighs a sampler with %s as %i: 1 and its steps, the default where not given', (inputs, weight) => {
    expect(weights({ s: nodeText('KSampler', inputs) })).toMatchObject({ s: weight });
  });

  it('takes steps from a primitive that they are linked to', () => {
    const nodes = { s: nodeText('KSampler', { steps: ['p', 0] }), p: nodeText('PrimitiveInt', { value: 7 }) };
    expect(weights(nodes)).toEqual({ s: 8, p: 1 });
    expect(
      weights({
        ...nodes,
        p: nodeText('PrimitiveInt', { value: ['q', 0] }),
        q: nodeText('PrimitiveInt', { value: 9 }),
      }),
    ).toEqual({
      s: 10,
      p: 1,
      q: 1,
    });
    expect(weights({ ...nodes, p: nodeText('PrimitiveInt', { value: ['p', 0] }) })).toEqual({ s: 1, p: 1 });
  });

  it.each([
    [{ steps: 20, start_at_step: 5, end_at_step: 15 }, 11],
    [{ steps: 20, start_at_step: 5, end_at_step: 10_000 }, 16],
    [{ steps: 20, start_at_step: 15, end_at_step: 5 }, 1],
    [{ steps: 20 }, 21],
  ])('weighs the part of the steps that a sampler runs: %j', (inputs, weight) => {
    expect(weights({ s: nodeText('KSamplerAdvanced', inputs) })).toEqual({ s: weight });
  });

  it('gives the steps of a scheduler to the node that samples, through nodes that edit the schedule', () => {
    const nodes = {
      s: nodeText('SamplerCustom', { sigmas: ['split', 1] }),
      split: nodeText('SplitSigmas', { sigmas: ['plan', 0] }),
    };
    expect(weights({ ...nodes, plan: nodeText('BasicScheduler', { steps: 30 }) })).toEqual({
      s: 31,
      split: 1,
      plan: 1,
    });
    expect(weights({ ...nodes, split: nodeText('SplitSigmas', { sigmas: ['split', 0] }) })).toEqual({ s: 1, split: 1 });
  });
});
