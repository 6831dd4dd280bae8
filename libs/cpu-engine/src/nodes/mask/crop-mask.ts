import { clippedRegion, cropTensor } from '../../image/crop';
import { NodeFault } from '../../node-api/node-fault';
import { defineNode, output } from '../../node-api/node-class';
import { mask, pixels } from '../../node-api/node-input';

export const cropMask = defineNode({
  name: 'CropMask',
  category: 'mask',
  description: 'A rectangle out of the mask; it ends where the mask ends.',
  inputs: { mask: mask(), x: pixels(0, 0), y: pixels(0, 0), width: pixels(1, 512), height: pixels(1, 512) },
  outputs: [output('MASK')],
  run({ mask, ...wanted }, context) {
    const region = clippedRegion(mask, wanted);
    if (region.width === 0 || region.height === 0)
      throw new NodeFault(
        `x ${wanted.x}, y ${wanted.y} lies outside the mask of ${mask.width}×${mask.height}; choose a corner within it.`,
      );
    return [cropTensor(mask, region, context)];
  },
});
