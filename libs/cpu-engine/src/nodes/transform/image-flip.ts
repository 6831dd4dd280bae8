import { rearrange } from '../../image/rearrange';
import { defineNode, output } from '../../node-api/node-class';
import { combo, image } from '../../node-api/node-input';

export const imageFlip = defineNode({
  name: 'ImageFlip',
  category: 'image/transform',
  description: 'The picture mirrored, top to bottom or left to right.',
  inputs: { image: image(), flip_method: combo(['x-axis: vertically', 'y-axis: horizontally']) },
  outputs: [output('IMAGE')],
  run({ image, flip_method }, context) {
    const { width, height } = image;
    const vertical = flip_method === 'x-axis: vertically';
    const from = vertical
      ? (x: number, y: number): number => (height - 1 - y) * width + x
      : (x: number, y: number): number => y * width + (width - 1 - x);
    return [rearrange(image, image, from, context)];
  },
});
