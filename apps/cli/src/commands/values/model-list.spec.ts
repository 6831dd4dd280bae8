import { modelsOrNone } from './model-list';

const read = (text: string): unknown => modelsOrNone(text, '--models');

describe('a list of models', () => {
  it('has a folder and a name for each, which may have folders and commas', () => {
    expect(read('checkpoints/sdxl/base.safetensors,loras/soft, warm.safetensors,vae/a.gguf')).toEqual([
      { folder: 'checkpoints', name: 'sdxl/base.safetensors' },
      { folder: 'loras', name: 'soft, warm.safetensors' },
      { folder: 'vae', name: 'a.gguf' },
    ]);
  });

  it('is empty for none', () => {
    expect(read('none')).toEqual([]);
  });

  it.each(['', 'base.safetensors', '/base.safetensors', 'vae/'])(
    'is refused without a folder or a name: %j',
    (text) => {
      expect(() => read(text)).toThrow('--models');
    },
  );
});
