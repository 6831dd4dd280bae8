import type { InputSpec, NodeClass } from '@millrace/contracts';
import { parseWorkflow } from '@millrace/workflow';
import { sanitiseGraph } from './sanitise-graph';

const choice: InputSpec = { type: 'COMBO', required: true };
const text: InputSpec = { type: 'STRING', required: true };
const number: InputSpec = { type: 'INT', required: true };
const link = (type: string): InputSpec => ({ type, required: true });

function nodeClass(inputs: Record<string, InputSpec>, ...outputs: string[]): NodeClass {
  const shown = { displayName: '', category: '', description: '' };
  const named = outputs.map((type) => ({ type, name: type, list: false }));
  return { ...shown, inputs, outputs: named, outputNode: outputs.length === 0 };
}

const catalogue = {
  Checkpoint: nodeClass({ ckpt_name: choice, type: choice }, 'MODEL', 'CLIP'),
  Lora: nodeClass({ model: link('MODEL'), lora_name: choice, strength: { type: 'FLOAT', required: true } }, 'MODEL'),
  ByTag: nodeClass({ model: link('MODEL'), text }, 'MODEL'),
  ByIndex: nodeClass({ model: link('MODEL'), index: number }, 'MODEL'),
  Everything: nodeClass({ model: link('MODEL') }, 'MODEL'),
  Efficient: nodeClass({ ckpt_name: choice, lora: text }, 'MODEL', 'LATENT'),
  Encode: nodeClass({ model: link('MODEL'), text }, 'CONDITIONING'),
  Show: nodeClass({ first: link('*'), second: link('*') }),
};

const CKPT = 'base.safetensors';
const DETAIL = 'detail.safetensors';
const A = new Map([[DETAIL, 'loras:a']]);
const B = new Map([[DETAIL, 'loras:b']]);
const NONE = new Map<string, string>();

type Nodes = Record<string, { class_type: string; inputs: Record<string, unknown> }>;

/** The salt of each node in a run that was lent these models, as it is posted. */
function salts(nodes: Nodes, models: ReadonlyMap<string, string>, cacheScope = 'one'): Record<string, unknown> {
  const ends = Object.keys(nodes).map((id) => [
    `show${id}`,
    { class_type: 'Show', inputs: { first: [id, 0], second: [id, 0] } },
  ]);
  const graph = parseWorkflow(JSON.stringify({ ...nodes, ...Object.fromEntries(ends) }));
  const limits = { maxNodes: 300, maxDepth: 300 };
  const work = { graph, catalogue, runId: 'run', cacheScope, models, limits };
  const posted = sanitiseGraph({ ...work, staged: new Map(), reportingClasses: new Set() });
  const of = JSON.parse(posted.text) as Nodes;
  return Object.fromEntries(Object.keys(nodes).map((id) => [id, of[id]?.inputs['millrace_salt']]));
}

const checkpoint = { class_type: 'Checkpoint', inputs: { ckpt_name: CKPT, type: 'flux' } };
const onto = (class_type: string, inputs: Record<string, unknown>): Nodes => ({
  '1': checkpoint,
  '2': { class_type, inputs: { ...inputs, ...('model' in inputs ? {} : { model: ['1', 0] }) } },
});
const alone = (class_type: string, inputs: Record<string, unknown>): Nodes => ({ '2': { class_type, inputs } });

describe('the cache key of a node that gives a model', () => {
  it.each<[string, Nodes]>([
    ['by its name', onto('Lora', { lora_name: DETAIL, strength: 1 })],
    ['by its name without an ending', onto('Lora', { lora_name: 'detail', strength: 1 })],
    ['by its name in other letters', onto('Lora', { lora_name: 'Detail', strength: 1 })],
    ['by its name in another folder', onto('Lora', { lora_name: `styles/${DETAIL}`, strength: 1 })],
    ['by a tag in a text', onto('ByTag', { text: 'a cat <lora:detail:1>' })],
    ['by its place in a list', onto('ByIndex', { index: 3 })],
    ['without naming it', onto('Everything', {})],
    ['beside another file', alone('Checkpoint', { ckpt_name: CKPT, type: 'detail' })],
    ['by a text beside another file', alone('Efficient', { ckpt_name: CKPT, lora: '<lora:detail:1>' })],
  ])('keeps runs apart that were lent other models, where it may load one %s', (_how, nodes) => {
    const keys = [A, B, NONE].map((models) => salts(nodes, models)['2']);
    expect(new Set(keys).size).toBe(3);
    expect(salts(nodes, new Map(A))['2']).toBe(keys[0]);
  });

  it('keeps those apart, too, where it names one that all of them were lent', () => {
    const nodes = alone('Efficient', { ckpt_name: CKPT, lora: '<lora:detail:1>' });
    const key = (models: ReadonlyMap<string, string>): unknown =>
      salts(nodes, new Map([...models, [CKPT, 'checkpoints:c']]))['2'];
    expect(new Set([A, B, NONE].map(key)).size).toBe(3);
  });

  it('is that of the models which were lent, in no order, for any account', () => {
    const other = ['other.safetensors', 'loras:o'] as const;
    const nodes = onto('ByTag', { text: '<lora:detail:1>' });
    const key = salts(nodes, new Map([...A, other]))['2'];
    expect(salts(nodes, new Map([other, ...A]), 'another')['2']).toBe(key);
    expect(salts(nodes, A)['2']).not.toBe(key);
  });

  it('is shared by all runs where it names files of the operator by choices alone, and models come by links', () => {
    const nodes = onto('Lora', { lora_name: 'styles/operators.safetensors', strength: 1 });
    for (const models of [A, B, NONE]) expect(salts(nodes, models)).toEqual({ '1': undefined, '2': undefined });
  });

  it('is that of its own file alone, where it names one that was lent by choices alone', () => {
    const nodes = onto('Lora', { lora_name: DETAIL, strength: 1 });
    const more = new Map([...A, ['other.safetensors', 'loras:o']]);
    expect(salts(nodes, more)['2']).toBe(salts(nodes, A)['2']);
  });

  it('is that of all runs where nothing was lent, by any name', () => {
    expect(salts(onto('ByTag', { text: '<lora:detail:1>' }), NONE)['2']).toBeUndefined();
  });
});

it('the cache key of a node that gives no model is that of its scope: texts that are encoded stay so where models change', () => {
  const nodes = onto('Encode', { text: 'a cat' });
  expect(salts(nodes, A)['2']).toBe(salts(nodes, NONE)['2']);
  expect(salts(nodes, A, 'another')['2']).not.toBe(salts(nodes, A)['2']);
});
