import { sliceBatch } from '../../image/batch';
import { defineNode, output } from '../../node-api/node-class';
import { image, int } from '../../node-api/node-input';

export const imageFromBatch = defineNode({
  name: 'ImageFromBatch',
  category: 'image/batch',
  description: 'A run of pictures out of a batch; a place or length beyond its end is taken back to the end.',
  inputs: {
    image: image(),
    batch_index: int({ default: 0, min: 0, max: 4095 }),
    length: int({ default: 1, min: 1, max: 4096 }),
  },
  outputs: [output('IMAGE')],
  run({ image, batch_index: index, length }) {
    const from = Math.min(index, image.batch - 1);
    return [sliceBatch(image, from, Math.min(length, image.batch - from))];
  },
});
