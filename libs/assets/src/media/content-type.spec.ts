import fc from 'fast-check';
import sharp from 'sharp';
import { OUTPUT_TYPES } from '@millrace/contracts';
import { isShown } from '../content/content-answer';
import { outputTypeOf, sniffContentType } from './content-type';

const latin = (text: string): Buffer => Buffer.from(text, 'latin1');
const ftyp = (major: string, ...compatible: string[]): Buffer => {
  const brands = latin(major + '\0\0\0\0' + compatible.join(''));
  const size = Buffer.alloc(4);
  size.writeUInt32BE(brands.length + 8);
  return Buffer.concat([size, latin('ftyp'), brands, Buffer.alloc(64)]);
};

describe('what bytes are', () => {
  it.each(['png', 'jpeg', 'gif', 'webp', 'avif', 'tiff'] as const)(
    '%s made by an encoder is recognised',
    async (format) => {
      const picture = sharp({ create: { width: 8, height: 8, channels: 3, background: 'red' } });
      const bytes = await picture.toFormat(format).toBuffer();
      expect(sniffContentType(bytes, 'a.bin')).toBe(`image/${format}`);
    },
  );

  it.each([
    ['a bitmap', Buffer.concat([latin('BM'), Buffer.alloc(12), Buffer.from([40, 0, 0, 0])]), 'image/bmp'],
    ['an mp4', ftyp('isom', 'isom', 'mp41'), 'video/mp4'],
    [
      'an mp4 whose first box is 256 bytes long',
      Buffer.concat([Buffer.from([0, 0, 1, 0]), latin('ftypisom')]),
      'video/mp4',
    ],
    ['a QuickTime film', ftyp('qt  '), 'video/quicktime'],
    ['an m4a', ftyp('M4A '), 'audio/mp4'],
    ['an avif that calls itself general', ftyp('mif1', 'miaf', 'avif'), 'image/avif'],
    ['a webm', latin('\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm'), 'video/webm'],
    ['a Matroska film', latin('\x1a\x45\xdf\xa3\xa3\x42\x86\x81\x01\x42\x82\x88matroska'), 'video/x-matroska'],
    ['a wav', latin('RIFF\x24\0\0\0WAVEfmt '), 'audio/wav'],
    ['a flac', latin('fLaC\0\0\0\x22'), 'audio/flac'],
    ['an mp3 with a tag', latin('ID3\x04\0\0\0\0\0\0'), 'audio/mpeg'],
    ['an mp3 without', Buffer.from([0xff, 0xfb, 0x90, 0x64, 0, 0]), 'audio/mpeg'],
    ['an aac stream', Buffer.from([0xff, 0xf1, 0x50, 0x80, 0, 0]), 'audio/aac'],
    ['opus in Ogg', latin('OggS\0\x02' + '\0'.repeat(21) + '\x13OpusHead'), 'audio/ogg'],
    ['theora in Ogg', latin('OggS\0\x02' + '\0'.repeat(21) + '\x2a\x80theora'), 'video/ogg'],
    ['a binary glTF', latin('glTF\x02\0\0\0'), 'model/gltf-binary'],
    ['a zip', latin('PK\x03\x04\x14\0'), 'application/zip'],
  ])('%s is recognised by its signature under any name', (_, bytes, type) => {
    expect(sniffContentType(bytes, 'a.txt')).toBe(type);
  });

  it.each([
    ['a note', 'hello', 'note.txt', 'text/plain; charset=utf-8'],
    ['a text without a name', 'hello', null, 'text/plain; charset=utf-8'],
    ['JSON', '{"a": 1}', 'a.json', 'application/json'],
    ['a table', 'a,b\n1,2', 'a.CSV', 'text/csv; charset=utf-8'],
    ['a drawing', '<svg xmlns="http://www.w3.org/2000/svg"/>', 'a.txt', 'image/svg+xml'],
    ['a drawing with a prologue', '<?xml version="1.0"?>\n<!-- a -->\n<svg/>', null, 'image/svg+xml'],
    ['a page', '\ufeff <!DOCTYPE html><p>', 'a.png', 'text/html; charset=utf-8'],
    ['a model in text', 'solid cube', 'a.stl', 'model/stl'],
    ['a scene in JSON', '{"asset":{}}', 'a.gltf', 'model/gltf+json'],
  ])('%s is recognised as text', (_, text, name, type) => {
    expect(sniffContentType(Buffer.from(text), name)).toBe(type);
  });

  it('a character that the end of the known bytes cuts in two is still text', () => {
    expect(sniffContentType(Buffer.from('kätzchen'.repeat(600)).subarray(0, 4_095), null)).toContain('text/plain');
  });

  it('what has no signature is not recognised by its name alone', () => {
    const noise = Buffer.from([1, 2, 3, 4, 0xfe, 0xff]);
    for (const name of ['a.png', 'a.mp4', 'a.mp3', 'a.txt', 'a.json']) {
      expect(sniffContentType(noise, name)).toBe('application/octet-stream');
    }
    expect(sniffContentType(Buffer.alloc(0), 'a.png')).toBe('application/octet-stream');
    expect(sniffContentType(Buffer.alloc(0), 'a.txt')).toBe('text/plain; charset=utf-8');
  });

  it('a text is never shown by a browser as a picture, a film or a sound', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', minLength: 20 }),
        fc.constantFrom('a.png', 'a.svg', 'a.mp4'),
        (text, name) => {
          fc.pre(!/^(GIF8[79]a|ID3|fLaC|BM|RIFF|OggS)|^.{4}ftyp/s.test(text));
          expect(isShown(sniffContentType(Buffer.from(text), name))).toBe(false);
        },
      ),
    );
  });
});

describe('the type of an output', () => {
  it.each([
    ['image/webp', 'animated.webp', 'image'],
    ['image/svg+xml', 'a.svg', 'image'],
    ['video/webm', 'reported-as-image.webm', 'video'],
    ['audio/flac', 'a.flac', 'audio'],
    ['text/plain; charset=utf-8', 'PreviewAny_3_0.txt', 'text'],
    ['application/json', 'a.json', 'text'],
    ['application/octet-stream', 'lat_00001_.latent', 'latent'],
    ['model/gltf-binary', 'a.glb', 'file'],
    ['model/gltf+json', 'a.gltf', 'file'],
    ['application/octet-stream', 'a', 'file'],
  ])('%s named %s is %s', (contentType, name, type) => {
    expect(outputTypeOf(contentType, name)).toBe(type);
  });

  it('is one of the closed list for anything that a node reports', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (contentType, name) => {
        expect(OUTPUT_TYPES).toContain(outputTypeOf(contentType, name));
      }),
    );
  });
});
