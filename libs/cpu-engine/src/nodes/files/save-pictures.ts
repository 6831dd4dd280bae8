import { rawPicture } from '../../image/codec/encode';
import { encodePng } from '../../image/codec/encode-png';
import type { ImageTensor } from '../../image/tensor';
import type { NodeContext } from '../../node-api/node-context';

/** zlib's level for pictures to keep: a compromise that the field made. */
export const SAVED_LEVEL = 4;
/** For pictures that are looked at once. */
export const PREVIEW_LEVEL = 1;

/** Every picture of the batch as a PNG file. */
export async function savePictures(
  image: ImageTensor,
  prefix: string,
  level: number,
  context: NodeContext,
): Promise<void> {
  const { width, height } = image;
  await context.saveFiles({ prefix, extension: '.png', width, height }, image.batch, (index) =>
    encodePng(rawPicture(image, index, context), level, context),
  );
}

/** A prefix for pictures that are only shown, apart from those of other nodes: five letters out of the node's id. */
export function previewPrefix(nodeId: string): string {
  // FNV-1a, which scatters short ids over all 32 bits.
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(nodeId)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  const letter = (place: number): string => String.fromCharCode(97 + (Math.floor(hash / 26 ** place) % 26));
  return `preview_${[0, 1, 2, 3, 4].map(letter).join('')}`;
}
