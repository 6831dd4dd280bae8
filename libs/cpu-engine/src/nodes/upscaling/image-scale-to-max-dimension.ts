import { resize } from '../../image/resize/resize';
import type { Size } from '../../image/tensor';
import { defineNode, output } from '../../node-api/node-class';
import { combo, image, pixels } from '../../node-api/node-input';
import { roundHalfEven } from '../../python/round';

export const imageScaleToMaxDimension = defineNode({
  name: 'ImageScaleToMaxDimension',
  category: 'image/upscaling',
  description: 'The picture scaled so that its longer side has a given length, proportions kept.',
  inputs: {
    image: image(),
    // "bilinear" stands twice in the field's own list.
    upscale_method: combo(['area', 'lanczos', 'bilinear', 'nearest-exact', 'bilinear', 'bicubic']),
    largest_size: pixels(0, 512),
  },
  outputs: [output('IMAGE')],
  run({ image, upscale_method, largest_size }, context) {
    return [resize(image, bounded(image, largest_size), upscale_method, context)];
  },
});

function bounded({ width, height }: Size, largest: number): Size {
  if (height > width) return { width: roundHalfEven((width / height) * largest), height: largest };
  if (width > height) return { width: largest, height: roundHalfEven((height / width) * largest) };
  return { width: largest, height: largest };
}
