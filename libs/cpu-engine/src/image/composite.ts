import type { Work } from '../node-api/work';
import { fitBatch } from './batch';
import { resize } from './resize/resize';
import { newLike, type ImageTensor, type MaskTensor } from './tensor';

const { fround } = Math;

/**
 * `source` over `destination`: mask * source + (1 - mask) * destination where they overlap. The mask is stretched over the
 * whole source; source and mask are repeated or cut to the destination's batch. They agree in channels.
 */
export function compositeOver(
  destination: ImageTensor,
  source: ImageTensor,
  place: { x: number; y: number },
  mask: MaskTensor | undefined,
  work: Work,
): ImageTensor {
  const result = newLike(work, destination, destination);
  result.data.set(destination.data);
  const over = fitBatch(source, destination.batch, work);
  const cover = mask && fitBatch(resize(mask, source, 'bilinear', work), destination.batch, work);
  const { channels } = destination;
  const width = Math.min(over.width, destination.width - place.x);
  const height = Math.min(over.height, destination.height - place.y);
  for (let n = 0; n < result.batch; n += 1) {
    for (let y = 0; y < height; y += 1) {
      work.checkpoint();
      const from = (n * over.height + y) * over.width;
      const to = (n * result.height + place.y + y) * result.width + place.x;
      if (!cover) {
        result.data.set(over.data.subarray(from * channels, (from + width) * channels), to * channels);
        continue;
      }
      for (let x = 0; x < width; x += 1) {
        const shown = cover.data[from + x] as number;
        const hidden = fround(1 - shown);
        for (let c = 0; c < channels; c += 1) {
          const under = fround(hidden * (result.data[(to + x) * channels + c] as number));
          result.data[(to + x) * channels + c] =
            fround(shown * (over.data[(from + x) * channels + c] as number)) + under;
        }
      }
    }
  }
  return result;
}
