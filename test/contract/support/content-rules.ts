import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { ContentLinks } from '@millrace/assets';
import { ErrorEnvelopeSchema, type Asset, type Job } from '@millrace/contracts';
import { ApiClient, describedFetch } from '@millrace/testing';
import { KeyRing } from '@millrace/platform';
import type { AssetStack, Store } from './asset-stack';

const some = (size = 1_000): Buffer => randomBytes(size);
const NOWHERE = '018f0000-0000-7000-8000-000000000000';

/** What reading, deleting and serving of assets promise (wire supplement, sections 1 and 5). */
export function describeContent(store: Store, world: () => AssetStack): void {
  const upload = async (bytes: Buffer, contentType = 'application/octet-stream', path = 'a.bin'): Promise<Asset> =>
    (await world().client.upload(bytes, { content_type: contentType, file_path: path })).body;

  describe('GET /assets/{id}', () => {
    it('is the record with a fresh link', async () => {
      const asset = await upload(some());
      const read = await world().client.call<Asset>('GET', `/api/v2/assets/${asset.id}`);
      const { created_new: _created, url: _url, url_expires_at: _until, ...record } = asset;
      expect(read.body).toMatchObject(record);
      expect(read.body).not.toHaveProperty('created_new');
      expect(Date.parse(read.body.url_expires_at)).toBeGreaterThan(Date.now());
    });

    it('does not find what is not there, is no id, or is of another account', async () => {
      const { id } = await upload(some());
      for (const unknown of [NOWHERE, 'nonsense', '%20']) {
        expect((await world().client.call('GET', `/api/v2/assets/${unknown}`)).body.error.code).toBe('not_found');
      }
      for (const path of [`/api/v2/assets/${id}`, `/api/v2/assets/${id}/content`]) {
        expect((await world().other.call('GET', path)).status).toBe(404);
      }
      expect((await world().other.call('DELETE', `/api/v2/assets/${id}`)).status).toBe(404);
      expect((await new ApiClient(world().stack.publicUrl, null).call('GET', `/api/v2/assets/${id}`)).status).toBe(401);
    });
  });

  describe('DELETE /assets/{id}', () => {
    it('answers 204, and 404 from then on', async () => {
      const { id } = await upload(some());
      const remove = async (): Promise<number> => (await world().client.call('DELETE', `/api/v2/assets/${id}`)).status;
      expect([await remove(), await remove()]).toEqual([204, 404]);
      expect((await world().client.call('GET', `/api/v2/assets/${id}/content`)).status).toBe(404);
    });

    it('answers 409 asset_in_use while a job takes the asset as input, or keeps it as output; outputs are what they are', async () => {
      const picture = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#369' } })
        .png()
        .toBuffer();
      const input = await upload(picture, 'image/png', 'in.png');
      const job = await world().client.run({
        '1': { class_type: 'LoadImage', inputs: { image: { __type: 'core/ASSET', info: { id: input.id } } } },
        '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } },
      });
      const held = await world().client.call('DELETE', `/api/v2/assets/${input.id}`);
      expect([held.status, held.body.error.code]).toEqual([409, 'asset_in_use']);
      const { outputs, status }: Job = await world().client.ended(job.id);
      expect(status).toBe('succeeded');
      const [output] = outputs;
      expect(output).toMatchObject({ type: 'image', content_type: 'image/png', job_id: job.id });
      const asset = await world().client.call<Asset>('GET', `/api/v2/assets/${output?.id}`);
      expect(asset.body).toMatchObject({ job_id: job.id, hash: output?.hash, content_type: 'image/png' });
      const kept = await world().client.call('DELETE', `/api/v2/assets/${output?.id}`);
      expect([kept.status, kept.body.error.code]).toEqual([409, 'asset_in_use']);
    });
  });

  describe('GET /assets/{id}/content on the self-hosted surface', () => {
    const client = (): ApiClient => new ApiClient(world().selfHosted, null);
    const bytes = Buffer.from('0123456789');
    const content = async (headers: Record<string, string> = {}, method = 'GET'): Promise<Response> => {
      const { body } = await client().upload(bytes, { content_type: 'text/plain', file_path: 'ten "digits".txt' });
      const url = `${world().selfHosted}/api/v2/assets/${body.id}/content`;
      return describedFetch(world().selfHosted)(url, { method, headers, redirect: 'manual' });
    };

    it('sends the bytes with headers that keep a browser from running them', async () => {
      const answer = await content();
      expect([answer.status, await answer.text()]).toEqual([200, '0123456789']);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-type': 'text/plain',
        'content-length': '10',
        'accept-ranges': 'bytes',
        'content-disposition': 'attachment; filename="ten \\"digits\\".txt"',
        'x-content-type-options': 'nosniff',
        'content-security-policy': 'sandbox',
      });
    });

    it.each([
      ['bytes=2-4', 'bytes 2-4/10', '234'],
      ['bytes=7-', 'bytes 7-9/10', '789'],
      ['bytes=-2', 'bytes 8-9/10', '89'],
      ['bytes=8-100', 'bytes 8-9/10', '89'],
    ])('sends the part %s with 206', async (range, contentRange, text) => {
      const answer = await content({ range });
      expect([answer.status, answer.headers.get('content-range'), await answer.text()]).toEqual([
        206,
        contentRange,
        text,
      ]);
    });

    it.each(['bytes=10-', 'bytes=-0'])('answers 416 to the part %s, with the length', async (range) => {
      const answer = await content({ range });
      expect([answer.status, answer.headers.get('content-range')]).toEqual([416, 'bytes */10']);
      const { error } = ErrorEnvelopeSchema.parse(await answer.json());
      expect(error).toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('has 10 bytes') as string,
      });
    });

    it.each(['bytes=5-2', 'lines=1-2', 'bytes=a-b', 'bytes=0-1,4-5'])('sends the whole for %s', async (range) => {
      expect([(await content({ range })).status]).toEqual([200]);
    });

    it('answers HEAD with the headers of GET, and 304 to a client that has the bytes', async () => {
      const head = await content({}, 'HEAD');
      expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '10', '']);
      const etag = head.headers.get('etag') ?? '';
      expect(etag).toMatch(/^"blake3:[0-9a-f]{64}"$/);
      for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
        const answer = await content({ 'if-none-match': tag });
        expect([answer.status, await answer.text()]).toEqual([304, '']);
      }
      expect((await content({ 'if-none-match': '"x"' })).status).toBe(200);
      expect((await content({ range: 'bytes=1-2', 'if-range': etag })).status).toBe(206);
      expect((await content({ range: 'bytes=1-2', 'if-range': '"x"' })).status).toBe(200);
    });

    it('is not troubled by a reader who stops after the headers', async () => {
      const { body } = await client().upload(some(5_000_000), { content_type: 'video/mp4', file_path: 'a.mp4' });
      const answer = await fetch(`${world().selfHosted}/api/v2/assets/${body.id}/content`);
      await answer.body?.cancel();
      expect((await content()).status).toBe(200);
    });
  });

  describe.each(['cloud', 'deployment'])('GET /assets/{id}/content on the %s surface', (surface) => {
    const ask = async (asset: Asset, method = 'GET'): Promise<Response> => {
      const base = world().stack.publicUrl + (surface === 'cloud' ? '' : `/deployment/${await world().deployment()}`);
      return describedFetch(world().stack.publicUrl)(`${base}/api/v2/assets/${asset.id}/content`, {
        method,
        redirect: 'manual',
        headers: { authorization: `Bearer ${world().account.apiKey}` },
      });
    };
    const locationOf = async (asset: Asset, method = 'GET'): Promise<string> =>
      (await ask(asset, method)).headers.get('location') ?? '';

    it('redirects with 302 to an absolute link that needs no credential, whole or in part, by GET and by HEAD', async () => {
      const bytes = some(100_000);
      const asset = await upload(bytes, 'application/x-model', 'große Datei.bin');
      const redirect = await ask(asset);
      expect([redirect.status, redirect.headers.get('cache-control')]).toEqual([302, 'no-store']);
      const whole = await fetch(redirect.headers.get('location') ?? '');
      expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true);
      expect(whole.headers.get('content-type')).toBe('application/x-model');
      expect(whole.headers.get('content-disposition')).toContain(
        'attachment; filename="gro?e Datei.bin"; filename*=UTF-8\'\'',
      );
      const part = await fetch(await locationOf(asset), { headers: { range: 'bytes=10-19' } });
      expect([part.status, Buffer.from(await part.arrayBuffer())]).toEqual([206, bytes.subarray(10, 20)]);
      const head = await fetch(await locationOf(asset, 'HEAD'), { method: 'HEAD' });
      expect([head.status, head.headers.get('content-length')]).toEqual([200, '100000']);
    });

    it.each([
      ['a page that was called a picture', Buffer.from('<html><script>1</script>'), 'image/png', 'attachment'],
      ['a drawing that could run scripts', Buffer.from('<svg onload="x"/>'), 'image/svg+xml', 'attachment'],
      ['a picture', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), 'image/png', 'inline'],
    ])('offers or shows %s by what it is', async (_, bytes, contentType, disposition) => {
      const asset = await upload(bytes, contentType, 'x');
      const answer = await fetch(await locationOf(asset));
      expect(answer.headers.get('content-disposition')).toBe(`${disposition}; filename="x"`);
    });

    it.each<[string, (url: URL, other: Asset) => void]>([
      ['for another asset', (url, { id }) => (url.pathname = url.pathname.replace(/[^/]+$/, id))],
      ['with another signature', (url) => flip(url, store === 'a bucket' ? 'X-Amz-Signature' : 'signature')],
      [
        'with a longer life',
        (url) => url.searchParams.set(store === 'a bucket' ? 'X-Amz-Expires' : 'expires', '9999999999'),
      ],
    ])('leads to nothing when the link is forged: %s', async (_, forge) => {
      const [asset, other] = [await upload(some()), await upload(some())];
      const url = new URL(await locationOf(asset));
      forge(url, other);
      expect([400, 403]).toContain((await fetch(url)).status);
    });

    it('leads to nothing once the link has expired', async () => {
      const asset = await upload(some());
      const url = store === 'a bucket' ? await expiredBucketLink(await locationOf(asset)) : expiredLink(asset);
      expect((await fetch(url)).status).toBe(403);
    });
  });

  describe("an asset's own url", () => {
    it('needs no credential, and dies with the asset', async () => {
      const bytes = some();
      const asset = await upload(bytes);
      expect(Buffer.from(await (await fetch(asset.url)).arrayBuffer()).equals(bytes)).toBe(true);
      await world().client.call('DELETE', `/api/v2/assets/${asset.id}`);
      const gone = await describedFetch(world().stack.publicUrl)(asset.url);
      expect(gone.status).toBe(404);
    });

    it('is refused in the envelope when it was altered or has expired', async () => {
      const asset = await upload(some());
      const altered = new URL(asset.url);
      flip(altered, 'signature');
      for (const url of [altered.href, expiredLink(asset)]) {
        const refused = await describedFetch(world().stack.publicUrl)(url);
        expect(refused.status).toBe(403);
        expect(await refused.json()).toMatchObject({ error: { code: 'forbidden' } });
      }
    });
  });

  /** A link that we made, signed with our own key, whose time is over. */
  function expiredLink(asset: Asset): string {
    const { publicUrl: origin, env } = world().stack;
    const links = new ContentLinks(KeyRing.of(Buffer.from(env.MILLRACE_SECRET_KEY ?? '', 'base64')), -60);
    const base = { kind: 'cloud', origin, prefix: '' } as const;
    return links.toContent(base, { id: asset.id, accountId: world().account.id }).url;
  }

  /** A link to the same object, presigned with the right key an hour ago for a minute. */
  async function expiredBucketLink(location: string): Promise<string> {
    const { env } = world().stack;
    const [, bucket = '', ...key] = new URL(location).pathname.split('/');
    const client = new S3Client({
      endpoint: env.S3_ENDPOINT ?? '',
      region: env.S3_REGION ?? '',
      forcePathStyle: true,
      credentials: { accessKeyId: env.S3_ACCESS_KEY_ID ?? '', secretAccessKey: env.S3_SECRET_ACCESS_KEY ?? '' },
    });
    const command = new GetObjectCommand({ Bucket: bucket, Key: key.join('/') });
    const url = await getSignedUrl(client, command, { expiresIn: 60, signingDate: new Date(Date.now() - 3_600_000) });
    client.destroy();
    return url;
  }
}

/** Change the last character of a parameter. */
function flip(url: URL, name: string): void {
  const value = url.searchParams.get(name) ?? '';
  url.searchParams.set(name, value.slice(0, -2) + (value.endsWith('00') ? '11' : '00'));
}
