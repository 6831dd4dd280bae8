import { encodeAnimatedPng } from '../../image/codec/encode-animated-png';
import { rawPicture } from '../../image/codec/encode';
import { defineNode } from '../../node-api/node-class';
import { float, image, int, string } from '../../node-api/node-input';

export const saveAnimatedPng = defineNode({
  name: 'SaveAnimatedPNG',
  category: 'image/animation',
  description: 'The batch as one animated PNG file, a frame per picture.',
  inputs: {
    images: image(),
    filename_prefix: string({ default: 'ComfyUI' }),
    fps: float({ default: 6, min: 0.01, max: 1000 }),
    compress_level: int({ default: 4, min: 0, max: 9 }),
  },
  outputNode: true,
  async run({ images, filename_prefix, fps, compress_level }, context) {
    const { width, height, batch } = images;
    await context.saveFiles({ prefix: filename_prefix, extension: '.png', width, height }, 1, () => {
      const pictures = Array.from({ length: batch }, (_, index) => rawPicture(images, index, context));
      return encodeAnimatedPng(pictures, Math.trunc(1000 / fps), compress_level, context);
    });
    return [];
  },
});
