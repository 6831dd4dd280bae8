import type { Work } from '../../work';
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

/** A PNG file without metadata; `level` is zlib's, 0 to 9. */
export function encodePng(picture: RawPicture, level: number): Promise<Buffer> {
  return write(picture).png({ compressionLevel: level }).toBuffer();
}

/** A small JPEG of the picture for watching it grow. */
export function encodePreview(picture: RawPicture): Promise<Buffer> {
  return write(picture)
    .resize({ width: PREVIEW_SIDE, height: PREVIEW_SIDE, fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: 80 })
    .toBuffer();
}

interface WebpOptions {
  delayMs: number;
  lossless: boolean;
  /** 0 to 100. */
  quality: number;
  /** 0 (fast) to 6 (small). */
  effort: number;
}

/** A WebP file that plays for ever, or a still one if there is one picture. */
export function encodeWebp(
  pictures: RawPicture[],
  { delayMs, lossless, quality, effort }: WebpOptions,
): Promise<Buffer> {
  const [first] = pictures as [RawPicture];
  const options = { lossless, quality: Math.max(1, quality), effort };
  if (pictures.length === 1) return write(first).webp(options).toBuffer();
  const film = {
    ...first,
    height: first.height * pictures.length,
    data: Buffer.concat(pictures.map(({ data }) => data)),
  };
  return write(film, first.height)
    .webp({ ...options, loop: 0, delay: pictures.map(() => delayMs) })
    .toBuffer();
}
