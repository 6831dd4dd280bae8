import type { InputSpec } from '@millrace/contracts';
import { LibraryOptions, MOST_OPTIONS, withNames } from './library-options';

const combo: InputSpec = { type: 'COMBO', required: true, options: ['own.safetensors'], libraryModels: true };
const model = (name: string, folder = 'checkpoints') => ({ folder, name, shared: false });

describe('what an input is offered of a library', () => {
  const library = new LibraryOptions([model('a.safetensors'), model('b.safetensors'), model('c.safetensors', 'loras')]);

  it('is what lies in the folder that its loader reads, in the order of the library', () => {
    expect(library.for('CheckpointLoaderSimple', 'ckpt_name', combo)).toEqual(['a.safetensors', 'b.safetensors']);
    expect(library.for('LoraLoader', 'lora_name', combo)).toEqual(['c.safetensors']);
    expect(library.for('VAELoader', 'vae_name', combo)).toEqual([]);
  });

  it('is nothing where it takes none, or its folder is not known', () => {
    const { libraryModels: _, ...plain } = combo;
    expect(library.for('CheckpointLoaderSimple', 'ckpt_name', plain)).toEqual([]);
    expect(library.for('CheckpointLoaderSimple', 'ckpt_name', { ...combo, type: 'STRING' })).toEqual([]);
    expect(library.for('SomeLoader', 'model_name', combo)).toEqual([]);
  });

  it('is bounded', () => {
    const many = Array.from({ length: MOST_OPTIONS + 1 }, (_, index) => model(`${index}.safetensors`));
    expect(new LibraryOptions(many).for('CheckpointLoaderSimple', 'ckpt_name', combo)).toHaveLength(MOST_OPTIONS);
  });

  it('stands after the options of the engine, each name once', () => {
    expect(withNames(['x', 'a'], ['a', 'b'])).toEqual(['x', 'a', 'b']);
    expect(withNames(undefined, ['a'])).toEqual(['a']);
  });
});
