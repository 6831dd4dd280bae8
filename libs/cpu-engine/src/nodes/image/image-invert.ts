import { mapTensor } from '../../image/pointwise';
import { defineNode, output } from '../../node-api/node-class';
import { image } from '../../node-api/node-input';

export const imageInvert = defineNode({
  name: 'ImageInvert',
  displayName: 'Invert Image',
  category: 'image',
  description: 'The negative: one minus every channel, alpha included.',
  inputs: { image: image() },
  outputs: [output('IMAGE')],
  run: ({ image }, context) => [mapTensor(image, (value) => 1 - value, context)],
});
