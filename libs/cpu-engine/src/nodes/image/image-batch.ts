import { joinBatches } from '../../image/batch';
import { withChannels } from '../../image/channels';
import { resizeToFill } from '../../image/resize/resize';
import { sameSize } from '../../image/tensor';
import { defineNode, output } from '../../node-api/node-class';
import { image } from '../../node-api/node-input';

export const imageBatch = defineNode({
  name: 'ImageBatch',
  displayName: 'Batch Images',
  category: 'image',
  description: 'Two batches as one; the second is scaled and cropped to the size of the first.',
  inputs: { image1: image(), image2: image() },
  outputs: [output('IMAGE')],
  run({ image1, image2 }, context) {
    const channels = Math.max(image1.channels, image2.channels);
    const first = withChannels(image1, channels, context);
    const second = withChannels(image2, channels, context);
    const fitted = sameSize(first, second) ? second : resizeToFill(second, first, 'bilinear', context);
    return [joinBatches([first, fitted], first, context)];
  },
});
