import { defineNode, output } from '../../node-api/node-class';
import { image } from '../../node-api/node-input';

export const getImageSize = defineNode({
  name: 'GetImageSize',
  displayName: 'Get Image Size',
  category: 'image',
  description: 'Width and height of the pictures in pixels, and how many there are.',
  inputs: { image: image() },
  outputs: [output('INT', 'width'), output('INT', 'height'), output('INT', 'batch_size')],
  run: ({ image }) => [BigInt(image.width), BigInt(image.height), BigInt(image.batch)],
});
