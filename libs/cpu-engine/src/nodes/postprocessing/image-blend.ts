import { withChannels } from '../../image/channels';
import { combineTensors } from '../../image/pointwise';
import { resizeToFill } from '../../image/resize/resize';
import { defineNode, output } from '../../node-api/node-class';
import { combo, float, image } from '../../node-api/node-input';
import { BLEND_MODES } from './blend-modes';

const { fround } = Math;

export const imageBlend = defineNode({
  name: 'ImageBlend',
  category: 'image/postprocessing',
  description: 'The first picture mixed with its blend with the second, which is scaled and cropped to fit.',
  inputs: {
    image1: image(),
    image2: image(),
    blend_factor: float({ default: 0.5, min: 0, max: 1 }),
    blend_mode: combo(['normal', 'multiply', 'screen', 'overlay', 'soft_light', 'difference']),
  },
  outputs: [output('IMAGE')],
  run({ image1, image2, blend_factor, blend_mode }, context) {
    const fitted = resizeToFill(withChannels(image2, image1.channels, context), image1, 'bicubic', context);
    const blend = BLEND_MODES[blend_mode];
    const kept = fround(1 - blend_factor);
    const taken = fround(blend_factor);
    const mix = (under: number, over: number): number => {
      const value = fround(fround(under * kept) + fround(blend(under, over) * taken));
      return Math.min(Math.max(value, 0), 1);
    };
    return [combineTensors(image1, fitted, mix, context)];
  },
});
