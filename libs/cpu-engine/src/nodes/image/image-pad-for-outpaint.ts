import { fillTensor } from '../../image/pointwise';
import { paste } from '../../image/paste';
import { newImage, newMask, type ImageTensor, type MaskTensor } from '../../image/tensor';
import { defineNode, output } from '../../node-api/node-class';
import { image, int, pixels, MAX_RESOLUTION } from '../../node-api/node-input';
import type { Work } from '../../node-api/work';

interface Margins {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export const imagePadForOutpaint = defineNode({
  name: 'ImagePadForOutpaint',
  displayName: 'Pad Image for Outpainting',
  category: 'image',
  description: 'Grey margins around the picture, and a mask of them that fades into it.',
  inputs: {
    image: image(),
    left: pixels(0, 0),
    top: pixels(0, 0),
    right: pixels(0, 0),
    bottom: pixels(0, 0),
    feathering: int({ default: 40, min: 0, max: MAX_RESOLUTION }),
  },
  outputs: [output('IMAGE'), output('MASK')],
  run({ image, feathering, ...margins }, context) {
    const size = {
      width: margins.left + image.width + margins.right,
      height: margins.top + image.height + margins.bottom,
    };
    const padded = newImage(context, image.batch, size, image.channels);
    fillTensor(padded, 0.5, context);
    paste(padded, image, { x: margins.left, y: margins.top }, context);
    const mask = newMask(context, 1, size);
    fillTensor(mask, 1, context);
    paste(mask, fade(image, margins, feathering, context), { x: margins.left, y: margins.top }, context);
    return [padded, mask];
  },
});

/** The mask over the picture itself: 1 at its padded edges, falling off with the square of the distance from them. */
function fade(image: ImageTensor, margins: Margins, feathering: number, work: Work): MaskTensor {
  const mask = newMask(work, 1, image);
  const { width, height } = image;
  if (feathering === 0 || feathering * 2 >= height || feathering * 2 >= width) return mask;
  for (let y = 0; y < height; y += 1) {
    work.checkpoint();
    const vertical = Math.min(margins.top === 0 ? height : y, margins.bottom === 0 ? height : height - y);
    for (let x = 0; x < width; x += 1) {
      const horizontal = Math.min(margins.left === 0 ? width : x, margins.right === 0 ? width : width - x);
      const depth = Math.max(0, (feathering - Math.min(vertical, horizontal)) / feathering);
      mask.data[y * width + x] = depth * depth;
    }
  }
  return mask;
}
