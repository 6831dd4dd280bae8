import { sliceBatch } from '../../image/batch';
import { resizeToFill } from '../../image/resize/resize';
import { newImage, newMask, pictureOf, shapeText, type ImageTensor, type MaskTensor } from '../../image/tensor';
import { NodeFault } from '../../node-api/node-fault';
import { defineNode, output } from '../../node-api/node-class';
import { combo, image, mask } from '../../node-api/node-input';
import type { Work } from '../../node-api/work';
import { PORTER_DUFF_MODE_NAMES, porterDuffMode } from './porter-duff-modes';

const { fround } = Math;

/** Below this alpha a pixel has no colour. */
const NO_ALPHA = fround(1e-5);

interface Layer {
  image: ImageTensor;
  mask: MaskTensor;
}

export const porterDuffImageComposite = defineNode({
  name: 'PorterDuffImageComposite',
  displayName: 'Porter-Duff Image Composite',
  category: 'mask/compositing',
  description: 'Two pictures with masks of their transparency, composited by one of the Porter-Duff operators.',
  inputs: {
    source: image(),
    source_alpha: mask(),
    destination: image(),
    destination_alpha: mask(),
    mode: combo(PORTER_DUFF_MODE_NAMES, 'DST'),
  },
  outputs: [output('IMAGE'), output('MASK')],
  run({ source, source_alpha, destination, destination_alpha, mode }, context) {
    if (source.channels !== destination.channels)
      throw new NodeFault(
        `source is ${shapeText(source)} and destination ${shapeText(destination)}; both need as many channels.`,
      );
    const batch = Math.min(source.batch, source_alpha.batch, destination.batch, destination_alpha.batch);
    const fit = <T extends ImageTensor | MaskTensor>(tensor: T): T =>
      resizeToFill(sliceBatch(tensor, 0, batch), destination, 'bicubic', context);
    const over = { image: fit(source), mask: fit(source_alpha) };
    const under = { image: fit(destination), mask: fit(destination_alpha) };
    const result = {
      image: newImage(context, batch, destination, destination.channels),
      mask: newMask(context, batch, destination),
    };
    for (let n = 0; n < batch; n += 1) composite(over, under, result, n, porterDuffMode(mode), context);
    return [result.image, result.mask];
  },
});

/** Picture `n` of the layers; masks say how transparent they are, pixels are premultiplied meanwhile. */
function composite(
  over: Layer,
  under: Layer,
  result: Layer,
  n: number,
  mode: ReturnType<typeof porterDuffMode>,
  work: Work,
): void {
  const { width, channels } = result.image;
  const [source, destination, image] = [over, under, result].map((layer) => pictureOf(layer.image, n)) as Planes;
  const [sourceMask, destinationMask, mask] = [over, under, result].map((layer) => pictureOf(layer.mask, n)) as Planes;
  for (let pixel = 0; pixel < mask.length; pixel += 1) {
    if (pixel % width === 0) work.checkpoint();
    const sourceAlpha = fround(1 - (sourceMask[pixel] as number));
    const destinationAlpha = fround(1 - (destinationMask[pixel] as number));
    const alpha = mode.alpha(sourceAlpha, destinationAlpha);
    mask[pixel] = 1 - alpha;
    if (alpha <= NO_ALPHA) continue;
    for (let at = pixel * channels; at < (pixel + 1) * channels; at += 1) {
      const s = fround((source[at] as number) * sourceAlpha);
      const d = fround((destination[at] as number) * destinationAlpha);
      const colour = fround(mode.colour(s, d, sourceAlpha, destinationAlpha) / alpha);
      image[at] = Math.min(Math.max(colour, 0), 1);
    }
  }
}

type Planes = [Float32Array, Float32Array, Float32Array];
