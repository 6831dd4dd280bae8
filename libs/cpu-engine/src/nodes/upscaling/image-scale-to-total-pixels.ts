import { resize } from '../../image/resize/resize';
import { defineNode, output } from '../../node-api/node-class';
import { combo, float, image } from '../../node-api/node-input';
import { roundHalfEven } from '../../python/round';
import { UPSCALE_METHODS } from './upscale-methods';

const MEGAPIXEL = 1024 * 1024;

export const imageScaleToTotalPixels = defineNode({
  name: 'ImageScaleToTotalPixels',
  category: 'image/upscaling',
  description: 'The picture scaled to about so many megapixels (of 1024 × 1024 pixels), proportions kept.',
  inputs: {
    image: image(),
    upscale_method: combo(UPSCALE_METHODS),
    megapixels: float({ default: 1, min: 0.01, max: 16 }),
  },
  outputs: [output('IMAGE')],
  run({ image, upscale_method, megapixels }, context) {
    const scale = Math.sqrt(Math.trunc(megapixels * MEGAPIXEL) / (image.width * image.height));
    const size = { width: roundHalfEven(image.width * scale), height: roundHalfEven(image.height * scale) };
    return [resize(image, size, upscale_method, context)];
  },
});
