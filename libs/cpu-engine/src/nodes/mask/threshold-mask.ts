import { mapTensor } from '../../image/pointwise';
import { defineNode, output } from '../../node-api/node-class';
import { float, mask } from '../../node-api/node-input';

export const thresholdMask = defineNode({
  name: 'ThresholdMask',
  category: 'mask',
  description: 'A mask of 1 where the value is above the threshold and 0 elsewhere.',
  inputs: { mask: mask(), value: float({ default: 0.5, min: 0, max: 1 }) },
  outputs: [output('MASK')],
  run({ mask, value }, context) {
    const threshold = Math.fround(value);
    return [mapTensor(mask, (x) => Number(x > threshold), context)];
  },
});
