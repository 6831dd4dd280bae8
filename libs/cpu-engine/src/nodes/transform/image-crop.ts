import { clippedRegion, cropTensor } from '../../image/crop';
import { defineNode, output } from '../../node-api/node-class';
import { image, pixels } from '../../node-api/node-input';

export const imageCrop = defineNode({
  name: 'ImageCrop',
  displayName: 'Image Crop',
  category: 'image/transform',
  description: 'A rectangle out of the picture; it ends where the picture ends.',
  inputs: { image: image(), width: pixels(1, 512), height: pixels(1, 512), x: pixels(0, 0), y: pixels(0, 0) },
  outputs: [output('IMAGE')],
  run({ image, width, height, x, y }, context) {
    const corner = { x: Math.min(x, image.width - 1), y: Math.min(y, image.height - 1) };
    return [cropTensor(image, clippedRegion(image, { ...corner, width, height }), context)];
  },
});
