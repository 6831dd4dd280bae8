import sharp from 'sharp';
import { PREVIEW_BYTES, type Preview } from '@millrace/contracts';

/** Longest sides of a picture that is made smaller, the first with which it is small enough. */
const SIDES = [1_024, 512, 256] as const;
/** A picture with more pixels is not shown: decoding it takes memory that the worker's other attempts need. */
const MAX_PIXELS = 4_096 * 4_096;

/**
 * A preview as clients are sent it: a JPEG of `PREVIEW_BYTES` at most, however the engine made it.
 *
 * @returns null when the bytes are no picture, or none that can be so small: a preview is not worth a failed job.
 */
export async function previewOf(event: {
  nodeId: string;
  contentType: 'image/jpeg' | 'image/png';
  data: Buffer;
}): Promise<Preview | null> {
  const jpeg =
    event.contentType === 'image/jpeg' && event.data.length <= PREVIEW_BYTES ? event.data : await smallJpeg(event.data);
  if (jpeg === null) return null;
  return { node_id: event.nodeId, content_type: 'image/jpeg', data_base64: jpeg.toString('base64') };
}

async function smallJpeg(data: Buffer): Promise<Buffer | null> {
  for (const side of SIDES) {
    const jpeg = await toJpeg(data, side);
    if (jpeg === null || jpeg.length <= PREVIEW_BYTES) return jpeg;
  }
  return null;
}

async function toJpeg(data: Buffer, side: number): Promise<Buffer | null> {
  try {
    return await sharp(data, { limitInputPixels: MAX_PIXELS })
      .flatten({ background: '#808080' })
      .resize(side, side, { fit: 'inside', withoutEnlargement: true })
      .jpeg({ quality: 85 })
      .toBuffer();
  } catch {
    return null;
  }
}
