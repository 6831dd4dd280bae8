import { fromBytes, pictureBytes } from '../../image/bytes';
import { withChannels } from '../../image/channels';
import { bayer, diffuse, snap, type Pixels } from '../../image/quantize/dither';
import { medianCutPalette } from '../../image/quantize/median-cut';
import { Palette } from '../../image/quantize/palette';
import { newLike, pictureOf } from '../../image/tensor';
import { defineNode, output } from '../../node-api/node-class';
import { combo, image, int } from '../../node-api/node-input';
import type { Work } from '../../node-api/work';

export const imageQuantize = defineNode({
  name: 'ImageQuantize',
  category: 'image/postprocessing',
  description: 'Every picture in a palette of its own of so many colours, dithered if wished.',
  inputs: {
    image: image(),
    colors: int({ default: 256, min: 1, max: 256 }),
    dither: combo(['none', 'floyd-steinberg', 'bayer-2', 'bayer-4', 'bayer-8', 'bayer-16']),
  },
  outputs: [output('IMAGE')],
  run({ image, colors, dither }, context) {
    const rgb = withChannels(image, 3, context);
    const result = newLike(context, rgb, rgb);
    for (let n = 0; n < rgb.batch; n += 1) {
      context.temporarily(() => {
        const pixels = { width: rgb.width, height: rgb.height, data: pictureBytes(rgb, n, context) };
        const palette = new Palette(medianCutPalette(pixels.data, colors, context));
        fromBytes(quantized(pixels, palette, dither, context), pictureOf(result, n), context);
      });
    }
    return [result];
  },
});

function quantized(pixels: Pixels, palette: Palette, dither: string, work: Work): Uint8Array {
  if (dither === 'none') return snap(pixels, palette, work);
  if (dither === 'floyd-steinberg') return diffuse(pixels, palette, work);
  return bayer(pixels, palette, Number(dither.replace('bayer-', '')), work);
}
