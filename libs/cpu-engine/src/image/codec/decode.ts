import type { Metadata } from 'sharp';
import { NodeFault } from '../../node-api/node-fault';
import { RunInterrupted, type Work } from '../../node-api/work';
import { decodeAnimatedPng, isAnimatedPng } from './decode-animated-png';
import { decodeCost } from './decode-cost';
import { checkPictureCount, type DecodedPictures } from './decoded-pictures';
import { hasColourKey } from './png-chunks';
import { open } from './vips';

/** A multiple of the samples of a pixel in every layout. */
const CHECK_EVERY = 3 << 18;

/**
 * Read a picture file (JPEG, PNG, WebP, GIF, TIFF, AVIF): turned as its EXIF orientation says, grey spread to RGB. Of an
 * animation or a file of several pages all pictures of the first one's size are read, or with `firstOnly` the first.
 *
 * @throws {NodeFault} when the file is no such picture, or before decoding when its pixels, or what the decoder needs for them,
 * pass the memory budget.
 */
export async function decodePictures(
  file: Uint8Array,
  name: string,
  work: Work,
  firstOnly = false,
): Promise<DecodedPictures> {
  try {
    if (!firstOnly && isAnimatedPng(file)) return await decodeAnimatedPng(file, work);
    const metadata = await open(file).metadata();
    const pages = firstOnly ? 1 : (metadata.pages ?? 1);
    checkPictureCount(pages);
    const { keptBytes, workingBytes } = decodeCost(metadata, pages);
    return await naming(`${name} has ${shapeOf(metadata, pages)}.`, () => {
      work.reserve(keptBytes);
      return work.temporarily(() => {
        work.reserve(workingBytes);
        return decode(file, metadata, pages, work);
      });
    });
  } catch (error) {
    if (error instanceof NodeFault || error instanceof RunInterrupted) throw error;
    throw new NodeFault(`${name} is damaged, or no picture of a kind that is read (JPEG, PNG, WebP, GIF, TIFF, AVIF).`);
  }
}

function shapeOf({ width, height, pageHeight = height, depth, isProgressive }: Metadata, pages: number): string {
  const count = pages > 1 ? `${pages} pictures of ` : '';
  return `${count}${width}×${pageHeight} pixels (${depth}${isProgressive ? ', interlaced' : ''})`;
}

/** What `part` says against a file begins with what the file is. */
async function naming<T>(subject: string, part: () => Promise<T>): Promise<T> {
  try {
    return await part();
  } catch (error) {
    throw error instanceof NodeFault ? new NodeFault(`${subject} ${error.message}`) : error;
  }
}

async function decode(file: Uint8Array, metadata: Metadata, pages: number, work: Work): Promise<DecodedPictures> {
  if (metadata.space === 'cmyk') return single(await decodeCmyk(file, work));
  if (metadata.space === 'grey16' && !metadata.hasAlpha) return single(await decodeGrey16(file, work));
  if (metadata.format === 'tiff' && pages > 1) return decodePages(file, metadata, pages, work);
  const { data, info } = await open(file, pages > 1 ? -1 : 0)
    .autoOrient()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return {
    width: info.width,
    height: info.height / pages,
    count: pages,
    channels: info.channels as 3 | 4,
    data,
    alphaIsIdle: metadata.format === 'gif' ? isOpaque(data, info.channels, work) : hasColourKey(file),
  };
}

function isOpaque(data: Uint8Array, channels: number, work: Work): boolean {
  if (channels < 4) return true;
  for (let at = 3; at < data.length; at += 4) {
    if (at % CHECK_EVERY === 3) work.checkpoint();
    if (data[at] !== 255) return false;
  }
  return true;
}

type Single = Pick<DecodedPictures, 'width' | 'height' | 'channels' | 'data'>;

function single(picture: Single): DecodedPictures {
  return { ...picture, count: 1, alphaIsIdle: false };
}

/** Pages of a TIFF need not be of one size or kind; those unlike the first are not decoded, not even small ones. */
async function decodePages(file: Uint8Array, first: Metadata, pages: number, work: Work): Promise<DecodedPictures> {
  const pictures: Single[] = [];
  for (let page = 0; page < pages; page += 1) {
    work.checkpoint();
    const metadata = page === 0 ? first : await open(file, page).metadata();
    if (metadata.width !== first.width || metadata.height !== first.height) continue;
    const { data, info } = await work.temporarily(() => {
      const { keptBytes, workingBytes } = decodeCost(metadata, 1);
      work.reserve(keptBytes + workingBytes);
      return open(file, page).autoOrient().raw().toBuffer({ resolveWithObject: true });
    });
    const picture = { width: info.width, height: info.height, channels: info.channels as 3 | 4, data };
    const like = pictures[0] ?? picture;
    if (picture.width === like.width && picture.height === like.height && picture.channels === like.channels)
      pictures.push(picture);
  }
  const [shown] = pictures as [Single];
  return {
    ...shown,
    count: pictures.length,
    data: Buffer.concat(pictures.map(({ data }) => data)),
    alphaIsIdle: false,
  };
}

/** Pillow's plain conversion, without profiles: (1 - c)(1 - k). */
async function decodeCmyk(file: Uint8Array, work: Work): Promise<Single> {
  const { data, info } = await open(file)
    .autoOrient()
    .pipelineColourspace('cmyk')
    .toColourspace('cmyk')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const rgb = new Uint8Array(info.width * info.height * 3);
  for (let from = 0, to = 0; to < rgb.length; from += info.channels) {
    if (to % CHECK_EVERY === 0) work.checkpoint();
    const white = 255 - (data[from + 3] as number);
    for (let c = 0; c < 3; c += 1) {
      const ink = (data[from + c] as number) * white + 128;
      rgb[to++] = white - (((ink >> 8) + ink) >> 8);
    }
  }
  return { width: info.width, height: info.height, channels: 3, data: rgb };
}

/** The field scales 16-bit grey by 1/255, cut off to whole numbers. */
async function decodeGrey16(file: Uint8Array, work: Work): Promise<Single> {
  const { data, info } = await open(file)
    .autoOrient()
    .toColourspace('grey16')
    .raw({ depth: 'ushort' })
    .toBuffer({ resolveWithObject: true });
  const rgb = new Uint8Array((data.length / 2) * 3);
  for (let pixel = 0; pixel < data.length / 2; pixel += 1) {
    if (pixel % CHECK_EVERY === 0) work.checkpoint();
    rgb.fill(Math.min(255, Math.trunc(data.readUInt16LE(pixel * 2) / 255)), pixel * 3, pixel * 3 + 3);
  }
  return { width: info.width, height: info.height, channels: 3, data: rgb };
}
