import { gaussianBlur } from '../../image/gaussian';
import { defineNode, output } from '../../node-api/node-class';
import { float, image, int } from '../../node-api/node-input';

export const imageBlur = defineNode({
  name: 'ImageBlur',
  category: 'image/postprocessing',
  description: 'A Gaussian blur; sigma counts in radii, not in pixels.',
  inputs: {
    image: image(),
    blur_radius: int({ default: 1, min: 1, max: 31 }),
    sigma: float({ default: 1, min: 0.1, max: 10 }),
  },
  outputs: [output('IMAGE')],
  run: ({ image, blur_radius, sigma }, context) => [gaussianBlur(image, blur_radius, sigma, context)],
});
