import type { InputSpec, NodeCatalogue } from '@millrace/contracts';
import { listedModels, withLibraryModels } from './library-catalogue';

const combo = (options: string[], more: Partial<InputSpec> = {}): InputSpec => ({
  type: 'COMBO',
  required: true,
  options,
  ...more,
});

function marked(inputs: Record<string, InputSpec>, className = 'ModelLoader'): string[] {
  const facts = { displayName: 'A', category: '', description: '', outputs: [], outputNode: false };
  const catalogue: NodeCatalogue = { [className]: { ...facts, inputs } };
  const spec = withLibraryModels(catalogue)[className]?.inputs ?? {};
  return Object.keys(spec).filter((name) => spec[name]?.libraryModels === true);
}

describe('a catalogue of engines that are shown models of libraries', () => {
  it('takes names of a library where its lists have model files, or would have them', () => {
    expect(
      marked({
        ckpt_name: combo([]),
        clip_name2: combo([]),
        model: combo(['a.safetensors', 'None']),
        mode: combo(['nearest']),
        empty: combo([]),
        image: combo(['a.safetensors'], { file: 'image' }),
        text_name: { type: 'STRING', required: true },
      }),
    ).toEqual(['ckpt_name', 'clip_name2', 'model']);
  });

  it('takes none where a node that loads nothing lists no model file', () => {
    expect(marked({ sampler_name: combo(['euler']), ckpt_name: combo([]) }, 'KSampler')).toEqual([]);
  });

  it('keeps everything else as it is', () => {
    const facts = { displayName: 'A', category: '', description: '', outputs: [], outputNode: false };
    const catalogue: NodeCatalogue = { A: { ...facts, inputs: { mode: combo(['x']) } } };
    expect(withLibraryModels(catalogue)).toEqual(catalogue);
  });
});

describe('the models that engines have by themselves', () => {
  it('are the files of weights that their inputs list', () => {
    const facts = { displayName: 'A', category: '', description: '', outputs: [], outputNode: false };
    const inputs = { ckpt_name: combo(['a.safetensors', 'None']), mode: combo(['nearest']) };
    expect([...listedModels({ A: { ...facts, inputs } })]).toEqual(['a.safetensors']);
  });
});
