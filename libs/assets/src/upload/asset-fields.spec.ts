import { Refusal } from '@millrace/contracts';
import { readMintFields, readUploadFields } from './asset-fields';

const sound = { content_type: 'image/png', file_path: 'cat.png' };

function faultsOf(read: () => unknown): string[] {
  try {
    read();
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    expect(error).toMatchObject({ code: 'invalid_request', status: 422 });
    return (error.details?.fields as { field: string }[]).map(({ field }) => field);
  }
  return [];
}

describe('the fields of an upload', () => {
  it('are read as a form writes them', () => {
    const hash = 'AB'.repeat(32);
    const fields = { expected_hash: `BLAKE3:${hash}`, tags: ['a', 'b', 'a'], expires_in: 60 };
    expect(readUploadFields({ ...fields, content_type: ' text/plain; charset=utf-8 ', file_path: 'a\\b' })).toEqual({
      contentType: 'text/plain; charset=utf-8',
      filePath: 'a/b',
      tags: ['a', 'b'],
      labels: null,
      expiresInSeconds: 60,
      expectedHash: `blake3:${hash.toLowerCase()}`,
    });
  });

  it('need only say what the bytes are and where they belong', () => {
    const nothing = { tags: [], labels: null, expiresInSeconds: null, expectedHash: null };
    expect(readUploadFields(sound)).toEqual({ contentType: 'image/png', filePath: 'cat.png', ...nothing });
    expect(faultsOf(() => readUploadFields({}))).toEqual(['content_type', 'file_path']);
  });

  it('are refused all at once, each by its name', () => {
    const wrong = { content_type: 'png', file_path: '../x', tags: [''], expires_in: '59', expected_hash: 'md5:1' };
    const fields = ['content_type', 'expected_hash', 'tags', 'file_path', 'expires_in'];
    expect(faultsOf(() => readUploadFields(wrong))).toEqual(fields);
  });

  it.each(['image/svg+xml', 'video/mp4; codecs="avc1.4d, mp4a"', 'application/x-a;b=c;', 'text/plain ; a=b'])(
    'take the media type %p',
    (content_type) => {
      expect(readUploadFields({ ...sound, content_type }).contentType).toBe(content_type);
    },
  );

  it.each(['', 'image', 'image/', '/png', 'image/png\r\nX-Evil: 1', 'image /png', 'a/b;c="', `a/${'b'.repeat(255)}`])(
    'refuse %p as a media type',
    (content_type) => {
      expect(faultsOf(() => readUploadFields({ ...sound, content_type }))).toEqual(['content_type']);
    },
  );

  it.each([60, 604_800])('take %p as expires_in', (expires_in) => {
    expect(readUploadFields({ ...sound, expires_in }).expiresInSeconds).toBe(Number(expires_in));
  });

  it.each([59, 604_801, 60.5, -60, Number.NaN, '60', '', null, true])('refuse %p as expires_in', (expires_in) => {
    expect(faultsOf(() => readUploadFields({ ...sound, expires_in }))).toEqual(['expires_in']);
  });

  it.each([[['a'.repeat(129)]], [['a\nb']], [Array.from({ length: 33 }, (_, at) => `tag ${at}`)]])(
    'refuse tags such as %j',
    (tags) => {
      expect(faultsOf(() => readUploadFields({ ...sound, tags }))).toEqual(['tags']);
    },
  );
});

describe('the fields of a mint from a hash', () => {
  const hash = `blake3:${'ab'.repeat(32)}`;

  it('may all be absent but for the hash', () => {
    const fields = { filePath: null, tags: [], labels: null, expiresInSeconds: null };
    expect(readMintFields({ hash })).toEqual({ hash, fields });
    expect(faultsOf(() => readMintFields({}))).toEqual(['hash']);
  });

  it('name the hash in either case, and no other thing', () => {
    expect(readMintFields({ hash: `blake3:${'AB'.repeat(32)}` }).hash).toBe(hash);
    expect(faultsOf(() => readMintFields({ hash: 'sha256:00' }))).toEqual(['hash']);
  });

  it('are refused all at once, those of another type among them', () => {
    const wrong = { hash: null, file_path: 1, tags: 'a', expires_in: '60' };
    expect(faultsOf(() => readMintFields(wrong))).toEqual(['hash', 'tags', 'file_path', 'expires_in']);
    expect(faultsOf(() => readMintFields({ hash, tags: [1] }))).toEqual(['tags']);
    expect(faultsOf(() => readMintFields({ hash, tags: Array(129).fill('a') }))).toEqual(['tags']);
  });
});
