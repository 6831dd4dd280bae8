import type { Work } from '../node-api/work';
import { newImage, newMask, type ImageTensor, type MaskTensor } from './tensor';

/** The image with `channels` channels: surplus ones dropped, missing ones 1 (opaque). */
export function withChannels(image: ImageTensor, channels: number, work: Work): ImageTensor {
  if (image.channels === channels) return image;
  const result = newImage(work, image.batch, image, channels);
  const kept = Math.min(image.channels, channels);
  const row = image.width;
  for (let pixel = 0; pixel < result.data.length / channels; pixel += 1) {
    if (pixel % row === 0) work.checkpoint();
    for (let c = 0; c < channels; c += 1)
      result.data[pixel * channels + c] = c < kept ? (image.data[pixel * image.channels + c] as number) : 1;
  }
  return result;
}

/** One channel of the image, as it is. */
export function channelOf(image: ImageTensor, channel: number, work: Work): MaskTensor {
  const result = newMask(work, image.batch, image);
  for (let pixel = 0; pixel < result.data.length; pixel += 1) {
    if (pixel % image.width === 0) work.checkpoint();
    result.data[pixel] = image.data[pixel * image.channels + channel] as number;
  }
  return result;
}

/** A grey picture of the mask: white where it is 1. */
export function greyOf(mask: MaskTensor, work: Work): ImageTensor {
  const result = newImage(work, mask.batch, mask, 3);
  for (let pixel = 0; pixel < mask.data.length; pixel += 1) {
    if (pixel % mask.width === 0) work.checkpoint();
    result.data.fill(mask.data[pixel] as number, pixel * 3, pixel * 3 + 3);
  }
  return result;
}
