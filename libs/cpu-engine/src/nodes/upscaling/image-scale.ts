import { resize, resizeToFill } from '../../image/resize/resize';
import type { Size } from '../../image/tensor';
import { defineNode, output } from '../../node-api/node-class';
import { combo, image, pixels } from '../../node-api/node-input';
import { roundHalfEven } from '../../python/round';
import { UPSCALE_METHODS } from './upscale-methods';

export const imageScale = defineNode({
  name: 'ImageScale',
  displayName: 'Upscale Image',
  category: 'image/upscaling',
  description: 'The picture in another size. A side of 0 follows from the other one; with both 0 nothing changes.',
  inputs: {
    image: image(),
    upscale_method: combo(UPSCALE_METHODS),
    width: pixels(0, 512),
    height: pixels(0, 512),
    crop: combo(['disabled', 'center']),
  },
  outputs: [output('IMAGE')],
  run({ image, upscale_method, width, height, crop }, context) {
    if (width === 0 && height === 0) return [image];
    const scale = crop === 'center' ? resizeToFill : resize;
    return [scale(image, completed(image, { width, height }), upscale_method, context)];
  },
});

function completed(source: Size, { width, height }: Size): Size {
  if (width === 0) return { width: Math.max(1, roundHalfEven((source.width * height) / source.height)), height };
  if (height === 0) return { width, height: Math.max(1, roundHalfEven((source.height * width) / source.width)) };
  return { width, height };
}
