import { mapTensor } from '../../image/pointwise';
import { defineNode, output } from '../../node-api/node-class';
import { mask } from '../../node-api/node-input';

export const invertMask = defineNode({
  name: 'InvertMask',
  category: 'mask',
  description: 'What was masked is not, and the other way round.',
  inputs: { mask: mask() },
  outputs: [output('MASK')],
  run: ({ mask }, context) => [mapTensor(mask, (value) => 1 - value, context)],
});
