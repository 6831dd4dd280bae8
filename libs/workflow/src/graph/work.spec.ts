import type { NodeCatalogue } from '@millrace/contracts';
import { workOf } from './work';
import { parseWorkflow } from './workflow';

const GRAPH = {
  '3': {
    class_type: 'KSampler',
    inputs: { model: ['4', 0], seed: 1, noise_seed: 18446744073709551615n, steps: 20, cfg: 7.5, sampler_name: 'euler' },
  },
  '4': { class_type: 'CheckpointLoaderSimple', inputs: { ckpt_name: 'large.safetensors' } },
  '5': { class_type: 'EmptyLatentImage', inputs: { width: 512, height: 512, tiled: false } },
  '1': { class_type: 'LoadImage', inputs: { image: 'a.png' } },
  '6': { class_type: 'CLIPTextEncode', inputs: { text: 'a coral reef', clip: ['4', 1] } },
};
const CLASS = { displayName: '', category: '', description: '', outputs: [], outputNode: false };
const choice = { type: 'COMBO', required: true } as const;
const CATALOGUE: NodeCatalogue = {
  KSampler: { ...CLASS, inputs: { sampler_name: choice } },
  CheckpointLoaderSimple: { ...CLASS, inputs: { ckpt_name: choice } },
  LoadImage: { ...CLASS, inputs: { image: { ...choice, file: 'image' } } },
  CLIPTextEncode: { ...CLASS, inputs: { text: { type: 'STRING', required: true } } },
};
type Graph = Record<string, { class_type: string; inputs: Record<string, unknown> }>;

function workTextOf(graph: Graph): string {
  const text = JSON.stringify(graph, (_key, value: unknown) => (typeof value === 'bigint' ? `«${value}»` : value));
  return [...workOf(parseWorkflow(text.replace(/"«(\d+)»"/g, '$1')), CATALOGUE)].join('');
}

const withInput = (node: string, name: string, value: unknown): Graph => {
  const changed = structuredClone<Graph>(GRAPH);
  const inputs = changed[node]?.inputs;
  if (inputs) inputs[name] = value;
  return changed;
};

describe('the work of a graph', () => {
  it.each<[string, Graph]>([
    ['another seed', withInput('3', 'seed', 77)],
    ['another seed of 64 bits', withInput('3', 'noise_seed', 5)],
    ['another text', withInput('6', 'text', 'a lighthouse')],
    ['another fraction', withInput('3', 'cfg', 6.5)],
    ['another file', withInput('1', 'image', 'b.png')],
    ['nodes in another order', Object.fromEntries(Object.entries(GRAPH).reverse())],
  ])('is the same for %s', (_what, graph) => {
    expect(workTextOf(graph)).toBe(workTextOf(GRAPH));
  });

  it.each<[string, Graph]>([
    ['more steps', withInput('3', 'steps', 40)],
    ['a larger picture', withInput('5', 'width', 1024)],
    ['another switch', withInput('5', 'tiled', true)],
    ['another model', withInput('4', 'ckpt_name', 'small.safetensors')],
    ['another sampler', withInput('3', 'sampler_name', 'dpmpp_2m')],
    ['another link', withInput('6', 'clip', ['4', 0])],
    ['one node more', { ...GRAPH, '7': { class_type: 'SaveImage', inputs: {} } }],
    ['another class', { ...GRAPH, '6': { ...GRAPH['6'], class_type: 'CLIPTextEncodeFlux' } }],
  ])('is another one for %s', (_what, graph) => {
    expect(workTextOf(graph)).not.toBe(workTextOf(GRAPH));
  });

  it('keeps neighbouring texts apart', () => {
    expect(workTextOf({ a: { class_type: 'bc', inputs: {} } })).not.toBe(
      workTextOf({ ab: { class_type: 'c', inputs: {} } }),
    );
  });
});
