import sharp from 'sharp';
import type { Preview } from '@millrace/contracts';

/** A frame of an event stream stays below 2 MiB (wire supplement, section 3), and a preview well below it. */
const MAX_PREVIEW_BYTES = 1_000_000;
const MAX_SIDE = 1_024;
/** A picture with more pixels is not shown: decoding it takes memory that the worker's other attempts need. */
const MAX_PIXELS = 4_096 * 4_096;

/**
 * A preview as clients are sent it: a JPEG, however the engine made it.
 *
 * @returns null when the bytes are no picture: a preview is not worth a failed job.
 */
export async function previewOf(event: {
  nodeId: string;
  contentType: 'image/jpeg' | 'image/png';
  data: Buffer;
}): Promise<Preview | null> {
  const jpeg =
    event.contentType === 'image/jpeg' && event.data.length <= MAX_PREVIEW_BYTES
      ? event.data
      : await toJpeg(event.data);
  if (jpeg === null) return null;
  return { node_id: event.nodeId, content_type: 'image/jpeg', data_base64: jpeg.toString('base64') };
}

async function toJpeg(data: Buffer): Promise<Buffer | null> {
  try {
    return await sharp(data, { limitInputPixels: MAX_PIXELS })
      .flatten({ background: '#808080' })
      .resize(MAX_SIDE, MAX_SIDE, { fit: 'inside', withoutEnlargement: true })
      .jpeg({ quality: 85 })
      .toBuffer();
  } catch {
    return null;
  }
}
