import { fitBatch } from '../../image/batch';
import { defineNode, output } from '../../node-api/node-class';
import { image, int } from '../../node-api/node-input';

export const repeatImageBatch = defineNode({
  name: 'RepeatImageBatch',
  category: 'image/batch',
  description: 'The whole batch over and over.',
  inputs: { image: image(), amount: int({ default: 1, min: 1, max: 4096 }) },
  outputs: [output('IMAGE')],
  run: ({ image, amount }, context) => [fitBatch(image, image.batch * amount, context)],
});
