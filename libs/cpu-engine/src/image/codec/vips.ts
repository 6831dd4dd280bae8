import sharp, { type Sharp, type SharpOptions } from 'sharp';

/** Loaders of the picture formats that are read. Others stay shut: SVG and PDF are programs, not pictures. */
const LOADERS = ['Jpeg', 'Png', 'Webp', 'Tiff', 'Heif', 'Nsgif'].map((format) => `VipsForeignLoad${format}`);

// One compute thread, one picture at a time: nothing is gained by threads of its own or by remembering operations.
sharp.cache(false);
sharp.concurrency(1);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: LOADERS });

/** Begin reading a picture file. `page` picks one of several pictures; -1 all of them, one above the other. */
export function open(file: Uint8Array, page = 0): Sharp {
  return sharp(file, page === -1 ? { ...readOptions(file), pages: -1 } : { ...readOptions(file), page });
}

/**
 * Colours are taken as stored; sizes are checked by the caller before anything is decoded. Damage is read around as far as
 * that goes: of a PNG that is cut short nothing at all comes, so that one is refused.
 */
function readOptions(file: Uint8Array): SharpOptions {
  const isPng = file[0] === 0x89 && file[1] === 0x50;
  return { failOn: isPng ? 'truncated' : 'none', ignoreIcc: true, limitInputPixels: false };
}

export interface RawPicture {
  width: number;
  height: number;
  channels: 3 | 4;
  data: Uint8Array;
}

/** Begin writing pictures; with `pageHeight` the data is that of several, one above the other. */
export function write({ data, ...raw }: RawPicture, pageHeight?: number): Sharp {
  return sharp(data, { raw: pageHeight === undefined ? raw : { ...raw, pageHeight }, limitInputPixels: false });
}

/** The versions of sharp and of the libraries it stands on. */
export const CODEC_VERSION = `sharp ${sharp.versions.sharp ?? '?'}, libvips ${sharp.versions.vips}`;
