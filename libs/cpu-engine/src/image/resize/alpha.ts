import type { Work } from '../../node-api/work';

const CHECK_EVERY = 1 << 18;

/** Multiply the colours of RGBA pixels by their alpha, in place: c * a / 255 to the nearest, in Pillow's integer form. */
export function premultiply(pixels: Uint8Array, work: Work): void {
  for (let at = 0; at < pixels.length; at += 4) {
    if (at % CHECK_EVERY === 0) work.checkpoint();
    const alpha = pixels[at + 3] as number;
    for (let c = at; c < at + 3; c += 1) {
      const product = (pixels[c] as number) * alpha + 128;
      pixels[c] = ((product >> 8) + product) >> 8;
    }
  }
}

/** Divide the colours by their alpha again, in place, cut off to whole numbers; colours of alpha 0 stay as they are. */
export function unpremultiply(pixels: Uint8Array, work: Work): void {
  for (let at = 0; at < pixels.length; at += 4) {
    if (at % CHECK_EVERY === 0) work.checkpoint();
    const alpha = pixels[at + 3] as number;
    if (alpha === 0 || alpha === 255) continue;
    for (let c = at; c < at + 3; c += 1) pixels[c] = Math.min(255, Math.trunc((255 * (pixels[c] as number)) / alpha));
  }
}
