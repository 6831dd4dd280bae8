import { parseBlobHash } from './hash';

describe('a content hash', () => {
  it('is read in either case and spelled in lower case', () => {
    expect(parseBlobHash(`BLAKE3:${'Ab'.repeat(32)}`)).toBe(`blake3:${'ab'.repeat(32)}`);
  });

  it.each(['', 'ab'.repeat(32), `sha256:${'ab'.repeat(32)}`, `blake3:${'ab'.repeat(31)}`, `blake3:${'zz'.repeat(32)}`])(
    'is refused when it is no blake3 hash: %p',
    (text) => {
      expect(parseBlobHash(text)).toBeNull();
    },
  );
});
