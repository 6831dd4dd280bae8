import { growDiamond, growSquare } from '../../image/morphology';
import { defineNode, output } from '../../node-api/node-class';
import { boolean, int, mask, MAX_RESOLUTION } from '../../node-api/node-input';

export const growMask = defineNode({
  name: 'GrowMask',
  category: 'mask',
  description:
    'The mask grown by so many pixels, or shrunk if negative; as a diamond with tapered corners, else a square.',
  inputs: {
    mask: mask(),
    expand: int({ default: 0, min: -MAX_RESOLUTION, max: MAX_RESOLUTION }),
    tapered_corners: boolean(true),
  },
  outputs: [output('MASK')],
  run({ mask, expand, tapered_corners }, context) {
    const grow = tapered_corners ? growDiamond : growSquare;
    return [grow(mask, expand, context)];
  },
});
