import { fillTensor } from '../../image/pointwise';
import { newMask } from '../../image/tensor';
import { defineNode, output } from '../../node-api/node-class';
import { float, pixels } from '../../node-api/node-input';

export const solidMask = defineNode({
  name: 'SolidMask',
  category: 'mask',
  description: 'A mask of one value everywhere.',
  inputs: { value: float({ default: 1, min: 0, max: 1 }), width: pixels(1, 512), height: pixels(1, 512) },
  outputs: [output('MASK')],
  run({ value, width, height }, context) {
    const mask = newMask(context, 1, { width, height });
    fillTensor(mask, value, context);
    return [mask];
  },
});
