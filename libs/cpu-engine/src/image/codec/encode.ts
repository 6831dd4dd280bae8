import type { Work } from '../../node-api/work';
import { pictureBytes } from '../bytes';
import type { ImageTensor } from '../tensor';
import { write, type RawPicture } from './vips';

/** Longest side of a preview, as the field's own previews have it. */
const PREVIEW_SIDE = 512;

/** Picture `index` of a batch in 8 bits. */
export function rawPicture(image: ImageTensor, index: number, work: Work): RawPicture {
  const { width, height, channels } = image;
  return { width, height, channels: channels as 3 | 4, data: pictureBytes(image, index, work) };
}

/** A small JPEG of the picture for watching it grow. */
export function encodePreview(picture: RawPicture): Promise<Buffer> {
  return write(picture)
    .resize({ width: PREVIEW_SIDE, height: PREVIEW_SIDE, fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: 80 })
    .toBuffer();
}
