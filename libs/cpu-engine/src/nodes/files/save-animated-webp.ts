import { rawPicture } from '../../image/codec/encode';
import { MAX_WEBP_SIDE, encodeWebp } from '../../image/codec/encode-webp';
import { defineNode } from '../../node-api/node-class';
import { NodeFault } from '../../node-api/node-fault';
import { boolean, combo, float, image, int, string } from '../../node-api/node-input';

const EFFORTS = { default: 4, fastest: 0, slowest: 6 };

export const saveAnimatedWebp = defineNode({
  name: 'SaveAnimatedWEBP',
  category: 'image/animation',
  description: 'The batch as one WebP file, a frame per picture.',
  inputs: {
    images: image(),
    filename_prefix: string({ default: 'ComfyUI' }),
    fps: float({ default: 6, min: 0.01, max: 1000 }),
    lossless: boolean(true),
    quality: int({ default: 80, min: 0, max: 100 }),
    method: combo(['default', 'fastest', 'slowest']),
  },
  outputNode: true,
  async run({ images, filename_prefix, fps, lossless, quality, method }, context) {
    const { width, height, batch } = images;
    if (width > MAX_WEBP_SIDE || height > MAX_WEBP_SIDE)
      throw new NodeFault(
        `images are ${width}×${height}; a WebP file holds at most ${MAX_WEBP_SIDE} pixels on either side. Scale them down.`,
      );
    await context.saveFiles({ prefix: filename_prefix, extension: '.webp', width, height }, 1, () => {
      const pictures = Array.from({ length: batch }, (_, index) => rawPicture(images, index, context));
      const delayMs = Math.trunc(1000 / fps);
      return encodeWebp(pictures, { delayMs, lossless, quality, effort: EFFORTS[method] }, context);
    });
    return [];
  },
});
