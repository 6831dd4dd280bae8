/** Signatures at the beginning of content, as latin-1 text, and the type that each stands for. */
const SIGNATURES: [signature: string, type: string][] = [
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['II*\0', 'image/tiff'],
  ['MM\0*', 'image/tiff'],
  ['II+\0', 'image/tiff'],
  ['MM\0+', 'image/tiff'],
  ['\x76\x2f\x31\x01', 'image/x-exr'],
  ['#?RADIANCE\n', 'image/vnd.radiance'],
  ['8BPS\0', 'image/vnd.adobe.photoshop'],
  ['\xff\x0a', 'image/jxl'],
  ['\0\0\0\x0cJXL \r\n\x87\n', 'image/jxl'],
  ['\0\0\x01\0', 'image/x-icon'],
  ['fLaC', 'audio/flac'],
  ['ID3', 'audio/mpeg'],
  ['glTF', 'model/gltf-binary'],
  ['%PDF-', 'application/pdf'],
  ['PK\x03\x04', 'application/zip'],
  ['\x1f\x8b\x08', 'application/gzip'],
];

const RIFF_FORMS: Record<string, string> = { WEBP: 'image/webp', WAVE: 'audio/wav', 'AVI ': 'video/x-msvideo' };

/** Brands of ISO base media files (ISO/IEC 14496-12); all others are films. */
const BRANDS: Record<string, string> = {
  avif: 'image/avif',
  avis: 'image/avif',
  heic: 'image/heic',
  heix: 'image/heic',
  hevc: 'image/heic',
  'M4A ': 'audio/mp4',
  'M4B ': 'audio/mp4',
  'qt  ': 'video/quicktime',
};

/** The type of binary content by its signature; null when it has none that is known. */
export function magicTypeOf(head: Buffer): string | null {
  // Before the signatures: the size of such a file's first box can look like one of them.
  if (textAt(head, 4, 4) === 'ftyp') return brandedTypeOf(head);
  for (const [signature, type] of SIGNATURES) {
    if (textAt(head, 0, signature.length) === signature) return type;
  }
  if (textAt(head, 0, 4) === 'RIFF') return RIFF_FORMS[textAt(head, 8, 4)] ?? null;
  if (textAt(head, 0, 4) === 'OggS') return oggTypeOf(head);
  if (textAt(head, 0, 4) === '\x1a\x45\xdf\xa3') return matroskaTypeOf(head);
  return isBitmap(head) ? 'image/bmp' : audioFrameTypeOf(head);
}

function textAt(head: Buffer, offset: number, length: number): string {
  return head.toString('latin1', offset, offset + length);
}

/** The major brand decides; a general one (mif1, msf1) leaves it to the compatible brands. */
function brandedTypeOf(head: Buffer): string {
  const end = Math.min(head.length, head.readUInt32BE(0));
  const major = textAt(head, 8, 4);
  if (BRANDS[major] !== undefined) return BRANDS[major];
  if (major !== 'mif1' && major !== 'msf1') return 'video/mp4';
  for (let offset = 16; offset + 4 <= end; offset += 4) {
    const type = BRANDS[textAt(head, offset, 4)];
    if (type !== undefined) return type;
  }
  return 'image/heif';
}

function oggTypeOf(head: Buffer): string {
  // The first packet names the codec; it begins after the page's header of 27 bytes and its segment table.
  const start = textAt(head, 28, 16);
  return start.includes('\x80theora') ? 'video/ogg' : 'audio/ogg';
}

function matroskaTypeOf(head: Buffer): string {
  // DocType stands within the first bytes of the EBML header.
  return textAt(head, 4, 60).includes('webm') ? 'video/webm' : 'video/x-matroska';
}

const DIB_HEADER_SIZES = new Set([12, 40, 52, 56, 64, 108, 124]);

function isBitmap(head: Buffer): boolean {
  return head.length >= 18 && textAt(head, 0, 2) === 'BM' && DIB_HEADER_SIZES.has(head.readUInt32LE(14));
}

/** MPEG audio without a tag: a frame header (ISO/IEC 11172-3, 2.4.1.3) with no reserved value. */
function audioFrameTypeOf(head: Buffer): string | null {
  if (head.length < 4 || head[0] !== 0xff) return null;
  const [, second = 0, third = 0] = head;
  if ((second & 0xf6) === 0xf0) return 'audio/aac';
  const version = (second >> 3) & 3;
  const layer = (second >> 1) & 3;
  const isFrame = (second & 0xe0) === 0xe0 && version !== 1 && layer !== 0;
  return isFrame && third >> 4 !== 15 && ((third >> 2) & 3) !== 3 ? 'audio/mpeg' : null;
}
