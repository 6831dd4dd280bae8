import fc from 'fast-check';
import { readFrame } from './frames';

function u32(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4);
  values.forEach((value, at) => bytes.writeUInt32BE(value, at * 4));
  return bytes;
}

const PIXELS = Buffer.from([0xff, 0xd8, 0xff, 0xe0]);

function described(metadata: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(metadata));
  return Buffer.concat([u32(4, json.length), json, PIXELS]);
}

describe('binary frames', () => {
  it('reads a preview that names nothing', () => {
    expect(readFrame(Buffer.concat([u32(1, 1), PIXELS]))).toEqual({
      kind: 'picture',
      contentType: 'image/jpeg',
      data: PIXELS,
      promptId: null,
      nodeId: null,
      displayNodeId: null,
    });
    expect(readFrame(Buffer.concat([u32(1, 2), PIXELS]))).toMatchObject({ contentType: 'image/png' });
  });

  it('reads a preview that names its node', () => {
    const ids = { node_id: '1.0.0.2', prompt_id: 'p', display_node_id: '1', image_type: 'image/png' };
    expect(readFrame(described(ids))).toEqual({
      kind: 'picture',
      contentType: 'image/png',
      data: PIXELS,
      promptId: 'p',
      nodeId: '1.0.0.2',
      displayNodeId: '1',
    });
  });

  it('reads a progress text', () => {
    const id = Buffer.from('é1');
    expect(readFrame(Buffer.concat([u32(3, id.length), id, Buffer.from('half way')]))).toEqual({
      kind: 'text',
      nodeId: 'é1',
      text: 'half way',
    });
  });

  it.each([
    ['another picture type', described({ image_type: 'image/webp' })],
    ['metadata that is no object', described(null)],
    ['metadata that is no JSON', Buffer.concat([u32(4, 2), Buffer.from('{x'), PIXELS])],
    ['a length beyond the end', Buffer.concat([u32(4, 4_000_000_000), PIXELS])],
    ['another picture format', Buffer.concat([u32(1, 9), PIXELS])],
    ['a type of the future', Buffer.concat([u32(77, 0), PIXELS])],
    ['nothing', Buffer.alloc(0)],
  ])('does not know %s', (_name, frame) => {
    expect(readFrame(frame)).toEqual({ kind: 'unknown' });
  });

  it('never throws, for any bytes', () => {
    const bytes = fc.uint8Array({ maxLength: 64 });
    fc.assert(
      fc.property(fc.nat(5), fc.nat(40), bytes, (type, length, rest) => {
        expect(() => readFrame(Buffer.concat([u32(type, length), rest]))).not.toThrow();
        expect(() => readFrame(Buffer.from(rest))).not.toThrow();
      }),
    );
  });
});
