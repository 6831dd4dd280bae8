import type { AssetRecord } from '../records/asset';
import { dispositionOf, planContent, servingHeaders, type ContentRequest } from './content-answer';

const hash = `blake3:${'ab'.repeat(32)}`;
const etag = `"${hash}"`;

function asset(overrides: Partial<AssetRecord> = {}, sizeBytes = 10): AssetRecord {
  return {
    id: '0199aaaa-0000-7000-8000-000000000001',
    accountId: '0199aaaa-0000-7000-8000-000000000002',
    jobId: null,
    contentType: 'image/png',
    filePath: 'images/cat.png',
    tags: [],
    createdAt: new Date(),
    expiresAt: null,
    blob: { accountId: '0199aaaa-0000-7000-8000-000000000002', hash, bornAt: new Date(), sizeBytes },
    damage: null,
    ...overrides,
  };
}
const plan = (request: Partial<ContentRequest>, sizeBytes = 10): ReturnType<typeof planContent> =>
  planContent(asset({}, sizeBytes), 'image/png', { method: 'GET', ...request });

describe("users' content", () => {
  it('leaves our origin without a way to run there', () => {
    expect(servingHeaders(asset(), 'image/png')).toEqual({
      'Content-Type': 'image/png',
      'Content-Disposition': 'inline; filename="cat.png"',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': 'sandbox',
      'Cache-Control': 'private, max-age=300',
      'Accept-Ranges': 'bytes',
      ETag: etag,
    });
  });

  it.each([
    ['image/png', 'image/jpeg', 'inline'],
    ['video/mp4; codecs="avc1"', 'video/mp4', 'inline'],
    ['audio/mp4', 'video/mp4', 'inline'],
    ['image/png', 'text/html; charset=utf-8', 'attachment'],
    ['image/png', 'application/octet-stream', 'attachment'],
    ['image/png', 'video/mp4', 'attachment'],
    ['image/svg+xml', 'image/svg+xml', 'attachment'],
    ['image/svg+xml', 'image/gif', 'attachment'],
    ['text/html', 'image/png', 'attachment'],
    ['text/plain', 'text/plain', 'attachment'],
    ['application/pdf', 'application/pdf', 'attachment'],
  ])('declared as %s and found to be %s is an %s', (contentType, sniffed, disposition) => {
    expect(dispositionOf(asset({ contentType }), sniffed).split(';')[0]).toBe(disposition);
  });

  it('is named in every alphabet, quotes included, and never by a path', () => {
    const named = dispositionOf(asset({ filePath: 'a/b/"kätz,chen" 猫.png' }), 'image/png');
    expect(named).toBe(
      `inline; filename="\\"k?tz,chen\\" ?.png"; filename*=UTF-8''%22k%C3%A4tz%2Cchen%22%20%E7%8C%AB.png`,
    );
    expect(dispositionOf(asset({ filePath: null }), 'image/png')).toContain(asset().id);
  });
});

describe('a request for content', () => {
  it('is answered with the whole, and for HEAD with all of it but the bytes', () => {
    const whole = plan({});
    expect(whole).toMatchObject({ status: 200, bytes: { start: 0, end: 9 }, headers: { 'Content-Length': '10' } });
    expect(plan({ method: 'HEAD', range: 'bytes=0-1' })).toEqual({ ...whole, bytes: null });
  });

  it('of nothing is answered with nothing', () => {
    expect(plan({}, 0)).toMatchObject({ status: 200, bytes: null, headers: { 'Content-Length': '0' } });
  });

  it('for a part is answered with that part', () => {
    expect(plan({ range: 'bytes=2-4' })).toMatchObject({
      status: 206,
      bytes: { start: 2, end: 4 },
      headers: { 'Content-Length': '3', 'Content-Range': 'bytes 2-4/10' },
    });
  });

  it('for a part that there is not is refused with the size', () => {
    const refused = {
      code: 'invalid_request',
      status: 416,
      headers: { 'Content-Range': 'bytes */10' },
      message: 'The file has 10 bytes, none of which is in the range bytes=10-; ask for an earlier one.',
    };
    expect(() => plan({ range: 'bytes=10-' })).toThrow(expect.objectContaining(refused) as Error);
  });

  it('for the rest of what it has is answered with the whole when it has something else', () => {
    expect(plan({ range: 'bytes=2-', ifRange: etag }).status).toBe(206);
    expect(plan({ range: 'bytes=2-', ifRange: '"another"' }).status).toBe(200);
    expect(plan({ range: 'bytes=2-', ifRange: `W/${etag}` }).status).toBe(200);
    expect(plan({ range: 'bytes=2-', ifRange: 'Sat, 21 Nov 2026 00:00:00 GMT' }).status).toBe(200);
  });

  it('by who has the bytes is answered without them', () => {
    for (const ifNoneMatch of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      expect(plan({ ifNoneMatch, range: 'bytes=0-1' })).toMatchObject({
        status: 304,
        bytes: null,
        headers: { ETag: etag },
      });
    }
    expect(plan({ ifNoneMatch: '"another"' }).status).toBe(200);
  });
});
