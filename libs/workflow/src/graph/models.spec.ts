import type { InputSpec, NodeCatalogue, NodeClass } from '@millrace/contracts';
import { graphText, nodeText } from '../fixtures/graph';
import { modelFilesIn, modelsOf } from './models';
import { parseWorkflow } from './workflow';

const choice: InputSpec = { type: 'COMBO', required: true };
const link: InputSpec = { type: 'MODEL', required: false };

function nodeClass(inputs: Record<string, InputSpec>, outputNode = false): NodeClass {
  const outputs = [{ type: 'MODEL', name: 'MODEL', list: false }];
  return { displayName: '', category: '', description: '', inputs, outputs, outputNode };
}

const catalogue: NodeCatalogue = {
  Checkpoint: nodeClass({ ckpt_name: choice }),
  Adapter: nodeClass({ model: link, lora_name: choice }),
  Sampler: nodeClass({ model: link, sampler_name: choice, note: { type: 'STRING', required: false } }),
  Save: nodeClass({ model: link }, true),
};

const modelsIn = (nodes: Record<string, string>): string[] => modelsOf(parseWorkflow(graphText(nodes)), catalogue);
const saved = (id: string): Record<string, string> => ({ out: nodeText('Save', { model: [id, 0] }) });

describe('the models of a graph', () => {
  it('are the files of weights that its loaders name, each once; adapters, other choices and texts are none', () => {
    const nodes = {
      '1': nodeText('Checkpoint', { ckpt_name: 'sd/base.safetensors' }),
      '2': nodeText('Adapter', { model: ['1', 0], lora_name: 'style.safetensors' }),
      '3': nodeText('Sampler', { model: ['2', 0], sampler_name: 'euler', note: 'x.ckpt' }),
      '4': nodeText('Checkpoint', { ckpt_name: 'refiner.CKPT' }),
      '5': nodeText('Save', { model: ['4', 0] }),
    };
    expect(modelsIn({ ...nodes, ...saved('3') })).toEqual(['sd/base.safetensors', 'refiner.CKPT']);
  });

  it('are loaded by nodes that an output needs', () => {
    const used = nodeText('Checkpoint', { ckpt_name: 'used.safetensors' });
    const unused = nodeText('Checkpoint', { ckpt_name: 'unused.safetensors' });
    expect(modelsIn({ '1': used, '2': unused, ...saved('1') })).toEqual(['used.safetensors']);
  });

  it.each([
    ['a NUL', '"\\u0000.safetensors"'],
    ['half a surrogate pair', '"\\ud800.safetensors"'],
    ['more than a file name can have', JSON.stringify(`${'x'.repeat(300)}.safetensors`)],
    ['a link', '["2", 0]'],
  ])('are no name with %s', (_what, value) => {
    expect(modelsIn({ '1': nodeText('Checkpoint', `{"ckpt_name": ${value}}`), ...saved('1') })).toEqual([]);
  });

  it('are sixteen at most', () => {
    const many = Array.from({ length: 20 }, (_, n) => [
      [`l${n}`, nodeText('Checkpoint', { ckpt_name: `${n}.safetensors` })],
      [`s${n}`, nodeText('Save', { model: [`l${n}`, 0] })],
    ]);
    expect(modelsIn(Object.fromEntries(many.flat()) as Record<string, string>)).toHaveLength(16);
  });
});

describe('the files of weights that a graph may load', () => {
  it('are all texts of that form, of nodes that an output needs: at any depth, adapters too, each with its first node', () => {
    const nodes = {
      '1': nodeText('Checkpoint', { ckpt_name: 'sd/base.safetensors' }),
      '2': nodeText('Adapter', {
        model: ['1', 0],
        lora_name: 'style.safetensors',
        more: { on: true, list: ['deep.gguf'] },
      }),
      '3': nodeText('Adapter', { model: ['2', 0], lora_name: 'style.safetensors' }),
      '4': nodeText('Checkpoint', { ckpt_name: 'unused.safetensors' }),
    };
    const files = modelFilesIn(parseWorkflow(graphText({ ...nodes, ...saved('3') })), catalogue);
    expect([...files]).toEqual([
      ['sd/base.safetensors', '1'],
      ['style.safetensors', '2'],
      ['deep.gguf', '2'],
    ]);
  });
});
