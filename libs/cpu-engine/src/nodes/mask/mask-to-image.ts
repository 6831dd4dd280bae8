import { greyOf } from '../../image/channels';
import { defineNode, output } from '../../node-api/node-class';
import { mask } from '../../node-api/node-input';

export const maskToImage = defineNode({
  name: 'MaskToImage',
  displayName: 'Convert Mask to Image',
  category: 'mask',
  description: 'The mask as a grey picture, white where it is 1.',
  inputs: { mask: mask() },
  outputs: [output('IMAGE')],
  run: ({ mask }, context) => [greyOf(mask, context)],
});
