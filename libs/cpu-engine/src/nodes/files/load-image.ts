import { defineNode, output } from '../../node-api/node-class';
import { imageFile } from '../../node-api/node-input';
import { loadPictures } from './load-picture';

export const loadImage = defineNode({
  name: 'LoadImage',
  displayName: 'Load Image',
  category: 'image',
  description: 'An input file as pictures (an animation as a batch), and a mask of their transparency.',
  inputs: { image: imageFile() },
  outputs: [output('IMAGE'), output('MASK')],
  async run({ image: name }, context) {
    const { image, mask } = await loadPictures(name, context);
    return [image, mask];
  },
});
