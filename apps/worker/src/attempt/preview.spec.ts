import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { PREVIEW_BYTES } from '@millrace/contracts';
import { previewOf } from './preview';

/** Noise, which no codec makes small. */
const noise = (side: number): ReturnType<typeof sharp> =>
  sharp(randomBytes(side * side * 3), { raw: { width: side, height: side, channels: 3 } });

describe('a preview', () => {
  it('is the JPEG that the engine made', async () => {
    const data = await noise(32).jpeg().toBuffer();
    expect(await previewOf({ nodeId: '3', contentType: 'image/jpeg', data })).toEqual({
      node_id: '3',
      content_type: 'image/jpeg',
      data_base64: data.toString('base64'),
    });
  });

  it.each(['image/jpeg', 'image/png'] as const)('of any size makes a frame below 2 MiB: %s', async (contentType) => {
    const picture = contentType === 'image/jpeg' ? noise(2_000).jpeg({ quality: 100 }) : noise(2_000).png();
    const preview = await previewOf({ nodeId: '3', contentType, data: await picture.toBuffer() });
    expect(JSON.stringify(preview).length).toBeLessThan(2 * 1024 * 1024);
    const bytes = Buffer.from(preview?.data_base64 ?? '', 'base64');
    expect(bytes.length).toBeLessThanOrEqual(PREVIEW_BYTES);
    expect(await sharp(bytes).metadata()).toMatchObject({ format: 'jpeg', width: 512, height: 512 });
  });

  it('is none when its bytes are no picture', async () => {
    const data = Buffer.from('\x89PNG\r\n\x1a\n no picture', 'latin1');
    expect(await previewOf({ nodeId: '3', contentType: 'image/png', data })).toBeNull();
  });
});
