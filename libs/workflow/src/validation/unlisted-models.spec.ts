import type { InputSpec, NodeCatalogue } from '@millrace/contracts';
import { parseWorkflow } from '../graph';
import { mayLoadFromLibrary, sortFaults } from './unlisted-models';
import { validateWorkflow } from './validation';

const name: InputSpec = { type: 'COMBO', required: true, options: ['here.safetensors'] };
const facts = { displayName: '', category: '', description: '', outputs: [], outputNode: true };
const catalogue: NodeCatalogue = {
  Loader: { ...facts, inputs: { ckpt_name: { ...name, libraryModels: true }, other: { ...name, required: false } } },
};

function sorted(nodes: Record<string, object>) {
  const graph = parseWorkflow(
    JSON.stringify(
      Object.fromEntries(Object.entries(nodes).map(([id, inputs]) => [id, { class_type: 'Loader', inputs }])),
    ),
  );
  const { faults, unlistedModels } = sortFaults(validateWorkflow(graph, catalogue), graph, catalogue);
  return {
    faults: Object.values(faults).flatMap((errors) => errors.map(({ field }) => field)),
    names: unlistedModels.map((model) => model.name),
    mayLoad: mayLoadFromLibrary(graph, catalogue),
  };
}

describe('models that no list of a catalogue has', () => {
  it('are for a library to say where the input takes its names', () => {
    expect(sorted({ a: { ckpt_name: 'mine.safetensors' }, b: { ckpt_name: 'sub/mine.gguf' } })).toEqual({
      faults: [],
      names: ['mine.safetensors', 'sub/mine.gguf'],
      mayLoad: true,
    });
  });

  it.each([
    ['in another input', { ckpt_name: 'here.safetensors', other: 'mine.safetensors' }, 'other'],
    ['whose name is none of a model', { ckpt_name: 'mine.txt' }, 'ckpt_name'],
    ['that are no text', { ckpt_name: 7 }, 'ckpt_name'],
  ])('are faults %s', (_, inputs, field) => {
    expect(sorted({ a: inputs })).toMatchObject({ faults: [field], names: [] });
  });

  it('stand apart from other faults of the same node', () => {
    const { faults, names } = sorted({ a: { ckpt_name: 'mine.safetensors', other: 'none' } });
    expect([faults, names]).toEqual([['other'], ['mine.safetensors']]);
  });

  it('may come from a library even where the list has the name, because its own model comes first', () => {
    expect(sorted({ a: { ckpt_name: 'here.safetensors' } })).toMatchObject({ names: [], mayLoad: true });
  });
});
