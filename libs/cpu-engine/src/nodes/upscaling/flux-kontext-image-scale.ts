import { resizeToFill } from '../../image/resize/resize';
import type { Size } from '../../image/tensor';
import { defineNode, output } from '../../node-api/node-class';
import { image } from '../../node-api/node-input';

/** Sizes of about one megapixel that the Flux Kontext model was trained on, from tall to wide. */
const TRAINED_SIZES: readonly Size[] = [
  [672, 1568],
  [688, 1504],
  [720, 1456],
  [752, 1392],
  [800, 1328],
  [832, 1248],
  [880, 1184],
  [944, 1104],
  [1024, 1024],
  [1104, 944],
  [1184, 880],
  [1248, 832],
  [1328, 800],
  [1392, 752],
  [1456, 720],
  [1504, 688],
  [1568, 672],
].map(([width = 0, height = 0]) => ({ width, height }));

export const fluxKontextImageScale = defineNode({
  name: 'FluxKontextImageScale',
  category: 'advanced/conditioning/flux',
  description: 'The picture scaled and cropped to the size nearest to its proportions that Flux Kontext works best in.',
  inputs: { image: image() },
  outputs: [output('IMAGE')],
  run: ({ image }, context) => [resizeToFill(image, nearestTrainedSize(image), 'lanczos', context)],
});

function nearestTrainedSize({ width, height }: Size): Size {
  const distance = (size: Size): number => Math.abs(width / height - size.width / size.height);
  return TRAINED_SIZES.reduce((best, size) => (distance(size) < distance(best) ? size : best));
}
