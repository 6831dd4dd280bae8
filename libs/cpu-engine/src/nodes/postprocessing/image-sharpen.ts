import { gaussianSharpen } from '../../image/gaussian';
import { mapTensor } from '../../image/pointwise';
import { defineNode, output } from '../../node-api/node-class';
import { float, image, int } from '../../node-api/node-input';

export const imageSharpen = defineNode({
  name: 'ImageSharpen',
  category: 'image/postprocessing',
  description: 'Ten times alpha of the difference between the picture and its Gaussian blur is added to it.',
  inputs: {
    image: image(),
    sharpen_radius: int({ default: 1, min: 1, max: 31 }),
    sigma: float({ default: 1, min: 0.1, max: 10 }),
    alpha: float({ default: 1, min: 0, max: 5 }),
  },
  outputs: [output('IMAGE')],
  run({ image, sharpen_radius, sigma, alpha }, context) {
    const sharpened = gaussianSharpen(image, sharpen_radius, sigma, alpha * 10, context);
    return [mapTensor(sharpened, (value) => Math.min(Math.max(value, 0), 1), context)];
  },
});
