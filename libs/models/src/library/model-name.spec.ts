import fc from 'fast-check';
import { Refusal } from '@millrace/contracts';
import { readModelName } from './model-name';

const faultsOf = (folder: string, name: string, allowPickles = false): string[] => {
  try {
    readModelName({ folder, name }, allowPickles);
    return [];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return (error.details?.fields as { field: string }[]).map(({ field }) => field);
  }
};

describe('the name of a model', () => {
  it.each([
    ['checkpoints', 'sdxl/base.safetensors'],
    ['loras', 'a b (v1.0) [x], é.safetensors'],
    ['ipadapter', 'a.GGUF'],
    ['text_encoders', 'a/b/c/d/e/f/g/h.sft'],
    ['loras', 'v1.0/a.b/c.sft'],
  ])('may be %s/%s', (folder, name) => expect(faultsOf(folder, name)).toEqual([]));

  it.each([
    '',
    '/a.safetensors',
    '../a.safetensors',
    'a/../b.safetensors',
    'a//b.safetensors',
    './a.safetensors',
    '.a.safetensors',
    'a\\b.safetensors',
    'a\nb.safetensors',
    'a\0.safetensors',
    'a\u202eb.safetensors',
    ' a.safetensors',
    'a /b.safetensors',
    'a./b.safetensors',
    'C:a.safetensors',
    'a*.safetensors',
    'a/b/c/d/e/f/g/h/i.safetensors',
    `${'é'.repeat(120)}.safetensors`,
    'a.zip',
    'a.onnx',
    'a.ckpt',
    'a.safetensors/b.safetensors',
    'sdxl/a.PT/b/c.gguf',
  ])('may not be %j', (name) => expect(faultsOf('checkpoints', name)).toEqual(['name']));

  it.each(['', '..', '.hidden', 'a/b', 'a b', '-a', 'a'.repeat(65)])('may not be in the folder %j', (folder) =>
    expect(faultsOf(folder, 'a.safetensors')).toEqual(['folder']),
  );

  it('may be that of a pickle where the operator allows it', () => {
    expect(faultsOf('checkpoints', 'a.ckpt', true)).toEqual([]);
  });

  it('never leads out of its folder', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('.', '/', '\\', 'a', ' ', '~') }), (path) => {
        const name = `${path}.gguf`;
        if (faultsOf('loras', name).length > 0) return;
        expect(new URL(name, 'file:///models/loras/').pathname).toMatch(/^\/models\/loras\/[^/]/);
      }),
    );
  });
});
