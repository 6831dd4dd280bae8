import { mapTensor } from '../../image/pointwise';
import { decodePictures } from '../../image/codec/decode';
import type { DecodedPictures } from '../../image/codec/decoded-pictures';
import { newImage, newMask, type ImageTensor, type MaskTensor } from '../../image/tensor';
import type { NodeContext } from '../../node-api/node-context';
import type { Work } from '../../node-api/work';

/** The mask of a picture without transparency: nothing masked, in this size for every picture. */
const EMPTY_MASK = { width: 64, height: 64 };

/** All pictures of an input file and the masks of their transparency. */
export async function loadPictures(
  name: string,
  context: NodeContext,
): Promise<{ image: ImageTensor; mask: MaskTensor }> {
  const pictures = await decodePictures(await context.readInput(name), name, context);
  const image = coloursOf(pictures, context);
  const hasMask = pictures.channels === 4 && !pictures.alphaIsIdle;
  const mask = hasMask ? transparencyOf(pictures, context) : newMask(context, pictures.count, EMPTY_MASK);
  return { image, mask };
}

/** One channel of the first picture of an input file: 0 to 2 a colour as it is, 3 the transparency. */
export async function loadChannel(name: string, channel: number, context: NodeContext): Promise<MaskTensor> {
  const pictures = await decodePictures(await context.readInput(name), name, context, true);
  if (channel === 3) return transparencyOf(pictures, context);
  const mask = newMask(context, 1, pictures);
  sampled(pictures, channel, mask.data, 0, 1, context);
  return mask;
}

function coloursOf(pictures: DecodedPictures, work: Work): ImageTensor {
  const image = newImage(work, pictures.count, pictures, 3);
  for (let c = 0; c < 3; c += 1) sampled(pictures, c, image.data, c, 3, work);
  return image;
}

function transparencyOf(pictures: DecodedPictures, work: Work): MaskTensor {
  const mask = newMask(work, pictures.count, pictures);
  if (pictures.channels !== 4) return mask;
  sampled(pictures, 3, mask.data, 0, 1, work);
  return mapTensor(mask, (value) => 1 - value, work);
}

/** One channel as floats, to every `step`th place from `start`. */
function sampled(
  { data, channels, width }: DecodedPictures,
  channel: number,
  floats: Float32Array,
  start: number,
  step: number,
  work: Work,
): void {
  for (let from = channel, to = start; from < data.length; from += channels, to += step) {
    if (to % (width * step) === start) work.checkpoint();
    floats[to] = (data[from] as number) / 255;
  }
}
