import { sliceBatch } from '../../image/batch';
import { withChannels } from '../../image/channels';
import { resize } from '../../image/resize/resize';
import { defineNode, output } from '../../node-api/node-class';
import { image, mask } from '../../node-api/node-input';

export const joinImageWithAlpha = defineNode({
  name: 'JoinImageWithAlpha',
  displayName: 'Join Image with Alpha',
  category: 'mask/compositing',
  description: 'The picture made transparent where the mask is set; the mask is stretched to fit.',
  inputs: { image: image(), alpha: mask() },
  outputs: [output('IMAGE')],
  run({ image, alpha }, context) {
    const batch = Math.min(image.batch, alpha.batch);
    const mask = resize(alpha, image, 'bilinear', context);
    const rgb = withChannels(sliceBatch(image, 0, batch), 3, context);
    const result = withChannels(rgb, 4, context);
    for (let pixel = 0; pixel < result.data.length / 4; pixel += 1) {
      if (pixel % image.width === 0) context.checkpoint();
      result.data[pixel * 4 + 3] = 1 - (mask.data[pixel] as number);
    }
    return [result];
  },
});
