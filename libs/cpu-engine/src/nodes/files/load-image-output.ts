import { defineNode, output } from '../../node-api/node-class';
import { imageFile } from '../../node-api/node-input';
import { loadPictures } from './load-picture';

export const loadImageOutput = defineNode({
  name: 'LoadImageOutput',
  displayName: 'Load Image (from Outputs)',
  category: 'image',
  description:
    'An earlier output as pictures and a mask. A run has no outputs but its own: name the asset as an input.',
  inputs: { image: imageFile() },
  outputs: [output('IMAGE'), output('MASK')],
  // It reads what earlier runs left, which its inputs do not name.
  deterministic: false,
  async run({ image: name }, context) {
    const { image, mask } = await loadPictures(name, context);
    return [image, mask];
  },
});
