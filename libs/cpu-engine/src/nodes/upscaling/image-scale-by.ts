import { resize } from '../../image/resize/resize';
import { defineNode, output } from '../../node-api/node-class';
import { combo, float, image } from '../../node-api/node-input';
import { roundHalfEven } from '../../python/round';
import { UPSCALE_METHODS } from './upscale-methods';

export const imageScaleBy = defineNode({
  name: 'ImageScaleBy',
  displayName: 'Upscale Image By',
  category: 'image/upscaling',
  description: 'The picture enlarged or shrunk by a factor.',
  inputs: {
    image: image(),
    upscale_method: combo(UPSCALE_METHODS),
    scale_by: float({ default: 1, min: 0.01, max: 8 }),
  },
  outputs: [output('IMAGE')],
  run({ image, upscale_method, scale_by }, context) {
    const size = { width: roundHalfEven(image.width * scale_by), height: roundHalfEven(image.height * scale_by) };
    return [resize(image, size, upscale_method, context)];
  },
});
