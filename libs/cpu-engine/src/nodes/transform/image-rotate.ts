import { rearrange } from '../../image/rearrange';
import { defineNode, output } from '../../node-api/node-class';
import { combo, image } from '../../node-api/node-input';

export const imageRotate = defineNode({
  name: 'ImageRotate',
  category: 'image/transform',
  description: 'The picture turned clockwise by quarters.',
  inputs: { image: image(), rotation: combo(['none', '90 degrees', '180 degrees', '270 degrees']) },
  outputs: [output('IMAGE')],
  run({ image, rotation }, context) {
    const { width, height } = image;
    const turned = { width: height, height: width };
    switch (rotation) {
      case 'none':
        return [image];
      case '90 degrees':
        return [rearrange(image, turned, (x, y) => (height - 1 - x) * width + y, context)];
      case '180 degrees':
        return [rearrange(image, image, (x, y) => (height - 1 - y) * width + (width - 1 - x), context)];
      case '270 degrees':
        return [rearrange(image, turned, (x, y) => x * width + (width - 1 - y), context)];
    }
  },
});
