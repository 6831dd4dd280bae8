import { channelOf, withChannels } from '../../image/channels';
import { mapTensor } from '../../image/pointwise';
import { newMask } from '../../image/tensor';
import { defineNode, output } from '../../node-api/node-class';
import { image } from '../../node-api/node-input';

export const splitImageWithAlpha = defineNode({
  name: 'SplitImageWithAlpha',
  displayName: 'Split Image with Alpha',
  category: 'mask/compositing',
  description: 'The colours of the picture, and a mask of its transparency (empty if it has no alpha).',
  inputs: { image: image() },
  outputs: [output('IMAGE'), output('MASK')],
  run({ image }, context) {
    const mask =
      image.channels > 3
        ? mapTensor(channelOf(image, 3, context), (alpha) => 1 - alpha, context)
        : newMask(context, image.batch, image);
    return [withChannels(image, 3, context), mask];
  },
});
