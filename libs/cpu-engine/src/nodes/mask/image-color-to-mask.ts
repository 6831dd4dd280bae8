import { newMask } from '../../image/tensor';
import { defineNode, output } from '../../node-api/node-class';
import { image, int } from '../../node-api/node-input';
import { roundHalfEven } from '../../python/round';

export const imageColorToMask = defineNode({
  name: 'ImageColorToMask',
  category: 'mask',
  description: 'A mask of the pixels that have exactly one colour, given as 0xRRGGBB.',
  inputs: { image: image(), color: int({ default: 0, min: 0, max: 0xffffff }) },
  outputs: [output('MASK')],
  run({ image, color }, context) {
    const mask = newMask(context, image.batch, image);
    const level = (at: number): number => {
      const value = Math.min(Math.max(image.data[at] as number, 0), 1);
      return roundHalfEven(Math.fround(value * 255));
    };
    for (let pixel = 0; pixel < mask.data.length; pixel += 1) {
      if (pixel % image.width === 0) context.checkpoint();
      const at = pixel * image.channels;
      const found = (level(at) << 16) + (level(at + 1) << 8) + level(at + 2);
      mask.data[pixel] = found === color ? 1 : 0;
    }
    return [mask];
  },
});
