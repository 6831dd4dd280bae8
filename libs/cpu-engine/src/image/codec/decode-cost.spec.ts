import sharp, { type Sharp } from 'sharp';
import { decodeCost } from './decode-cost';
import { open } from './vips';

const SIDE = 32;
const picture = (channels: 3 | 4): Sharp =>
  sharp({ create: { width: SIDE, height: SIDE, channels, background: { r: 200, g: 50, b: 20, alpha: 0.5 } } });
const frames = (count: number): Sharp =>
  sharp(
    Buffer.from(Array.from({ length: SIDE * SIDE * 3 * count }, (_, at) => Math.floor(at / (SIDE * SIDE * 3)) * 90)),
    {
      raw: { width: SIDE, height: SIDE * count, channels: 3, pageHeight: SIDE },
    },
  );

describe('what decoding a file takes', () => {
  // Bytes for each pixel of one picture: [kept, held by the decoder].
  it.each<[string, Sharp, number, [number, number]]>([
    ['a PNG, row by row', picture(3).png(), 1, [3, 0]],
    ['an interlaced PNG', picture(4).png({ progressive: true }), 1, [4, 4]],
    ['an interlaced PNG of 16 bits', picture(4).toColourspace('rgb16').png({ progressive: true }), 1, [4, 8]],
    ['an interlaced PNG with a palette', picture(3).png({ palette: true, progressive: true }), 1, [3, 3]],
    ['a JPEG, which may have several scans', picture(3).jpeg({ progressive: true }), 1, [3, 6]],
    ['a JPEG that is turned', picture(3).withMetadata({ orientation: 6 }).jpeg(), 1, [3, 9]],
    ['a JPEG of inks', picture(3).toColourspace('cmyk').jpeg(), 1, [4, 12]],
    ['a WebP', picture(4).webp(), 1, [4, 9]],
    ['a WebP of three pictures', frames(3).webp({ lossless: true }), 3, [9, 30]],
    ['a GIF of three pictures', frames(3).gif(), 3, [12, 8]],
    ['a TIFF', picture(3).tiff(), 1, [3, 3]],
    ['an AVIF', picture(3).avif({ effort: 0 }), 1, [3, 18]],
  ])('counts for %s', async (_, file, pages, [kept, working]) => {
    const metadata = await open(await file.toBuffer()).metadata();
    const { keptBytes, workingBytes } = decodeCost(metadata, pages);
    expect({ kept: keptBytes / SIDE / SIDE, working: workingBytes / SIDE / SIDE }).toEqual({ kept, working });
    expect(metadata.pages ?? 1).toBe(pages);
  });
});
