import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { blake3 } from '@napi-rs/blake-hash';
import type { Asset, ErrorEnvelope, ResumableUploadView } from '@millrace/contracts';
import type { Answer } from '@millrace/testing';
import type { AssetStack } from './asset-stack';

export const PART_BYTES = 5_242_880;
const SIZE = PART_BYTES + 70_000;
/** What the command line sends as a form. */
const FORM_BYTES = 33_554_432;
const CLI = join(process.cwd(), 'dist/apps/cli/src/main.js');
const hashOf = (bytes: Buffer): string => `blake3:${blake3(bytes).toString('hex')}`;

/** What uploads in parts promise (docs/openapi.json, `beginUpload` and its like). */
export function describeResumableUploads(world: () => AssetStack): void {
  const UPLOADS = '/api/v2/uploads';
  const begin = (more: object = {}): Promise<Answer<ResumableUploadView & ErrorEnvelope>> =>
    world().client.call('POST', UPLOADS, {
      json: { size_bytes: SIZE, content_type: 'video/mp4', file_path: 'film.mp4', tags: ['big'], ...more },
    });
  const read = async (id: string): Promise<ResumableUploadView> =>
    (await world().client.call<ResumableUploadView>('GET', `${UPLOADS}/${id}`)).body;
  const complete = (id: string): Promise<Answer<Asset & ErrorEnvelope>> =>
    world().client.call('POST', `${UPLOADS}/${id}/complete`);
  const pieceOf = (bytes: Buffer, number: number): Buffer =>
    bytes.subarray((number - 1) * PART_BYTES, number * PART_BYTES);
  const put = async (url: string | null | undefined, piece: Buffer): Promise<number> =>
    (await fetch(url ?? '', { method: 'PUT', body: new Uint8Array(piece) })).status;
  const send = async (upload: ResumableUploadView, bytes: Buffer): Promise<void> => {
    for (const { number, url } of [...upload.parts].reverse()) {
      expect([200, 204]).toContain(await put(url, pieceOf(bytes, number)));
    }
  };

  describe('an upload in parts', () => {
    it('becomes an asset when its parts, sent in any order, are completed; completing again returns the same', async () => {
      const bytes = randomBytes(SIZE);
      const begun = await begin({ expected_hash: hashOf(bytes) });
      expect(begun.status).toBe(201);
      expect(begun.body).toMatchObject({ size_bytes: SIZE, part_size_bytes: PART_BYTES });
      expect(begun.body.parts.map(({ size_bytes, received }) => [size_bytes, received])).toEqual([
        [PART_BYTES, false],
        [70_000, false],
      ]);
      await send(begun.body, bytes);
      const made = await complete(begun.body.id);
      expect(made.status).toBe(201);
      expect(made.body).toMatchObject({ hash: hashOf(bytes), size_bytes: SIZE, file_path: 'film.mp4', tags: ['big'] });
      expect(Buffer.from(await (await fetch(made.body.url)).arrayBuffer()).equals(bytes)).toBe(true);
      const again = await complete(begun.body.id);
      expect([again.status, again.body.id]).toEqual([200, made.body.id]);
      expect(await world().stagedObjects()).toBe(0);
    });

    it('shows what has arrived, so that a client that broke off sends the rest', async () => {
      const bytes = randomBytes(SIZE);
      const { body } = await begin();
      await put(body.parts[1]?.url, pieceOf(bytes, 2));
      const early = await complete(body.id);
      expect([early.status, early.body.error.code]).toEqual([409, 'upload_incomplete']);
      expect(early.body.error.details).toEqual({ missing: [1] });
      const { parts } = await read(body.id);
      expect(parts.map(({ received, url }) => [received, url === null])).toEqual([
        [false, false],
        [true, true],
      ]);
      await put(parts[0]?.url, pieceOf(bytes, 1));
      expect((await complete(body.id)).body.hash).toBe(hashOf(bytes));
    });

    it('says which bytes were announced, so that a client goes on with the file that it began with', async () => {
      const bytes = randomBytes(SIZE);
      const announced = await begin({ expected_hash: hashOf(bytes).toUpperCase().replace('BLAKE3', 'blake3') });
      expect(announced.body.expected_hash).toBe(hashOf(bytes));
      expect((await read(announced.body.id)).expected_hash).toBe(hashOf(bytes));
      const silent = await begin();
      expect((await read(silent.body.id)).expected_hash).toBeNull();
      for (const { id } of [announced.body, silent.body]) await world().client.call('DELETE', `${UPLOADS}/${id}`);
    });

    it('is deduplicated like any other upload', async () => {
      const bytes = randomBytes(SIZE);
      const [first, second] = [await begin(), await begin()];
      await send(first.body, bytes);
      await send(second.body, bytes);
      const [made, found] = [await complete(first.body.id), await complete(second.body.id)];
      expect([made.status, found.status, found.body.id]).toEqual([201, 200, made.body.id]);
    });

    it('whose bytes are not the expected ones is refused with 409 hash_mismatch, and is over', async () => {
      const bytes = randomBytes(SIZE);
      const { body } = await begin({ expected_hash: hashOf(randomBytes(10)) });
      await send(body, bytes);
      const refused = await complete(body.id);
      expect([refused.status, refused.body.error.code]).toEqual([409, 'hash_mismatch']);
      expect((await complete(body.id)).status).toBe(404);
      expect((await world().client.call('HEAD', `/api/v2/assets/by-hash/${hashOf(bytes)}`)).status).toBe(404);
    });

    it('is dropped on request with what has arrived, and is not found from then on', async () => {
      const { body } = await begin();
      await put(body.parts[1]?.url, randomBytes(70_000));
      const drop = async (): Promise<number> => (await world().client.call('DELETE', `${UPLOADS}/${body.id}`)).status;
      expect([await drop(), await drop()]).toEqual([204, 404]);
      expect([403, 404]).toContain(await put(body.parts[1]?.url, randomBytes(70_000)));
      expect(await world().stagedObjects()).toBe(0);
    });

    it('is how the command line sends a large file', async () => {
      const folder = await mkdtemp(join(tmpdir(), 'millrace-large-'));
      const path = join(folder, 'film.mp4');
      const bytes = randomBytes(FORM_BYTES + 70_000);
      await writeFile(path, bytes);
      const env = { MILLRACE_URL: world().stack.publicUrl, MILLRACE_API_KEY: world().account.apiKey };
      const { stdout } = await promisify(execFile)(process.execPath, [CLI, '--json', 'assets', 'put', path], { env });
      expect(JSON.parse(stdout)).toMatchObject({ assets: [{ hash: hashOf(bytes), size_bytes: bytes.length }] });
      await rm(folder, { recursive: true });
    });

    it('takes no part of another size, and none by a link that was altered', async () => {
      const { body } = await begin();
      const url = body.parts[1]?.url ?? '';
      expect([400, 403, 422]).toContain(await put(url, randomBytes(70_001)));
      const forged = new URL(url);
      const name = forged.searchParams.has('signature') ? 'signature' : 'X-Amz-Signature';
      forged.searchParams.set(name, `${forged.searchParams.get(name)?.slice(0, -2)}00`);
      expect(await put(forged.href, randomBytes(70_000))).toBe(403);
      expect((await read(body.id)).parts.some(({ received }) => received)).toBe(false);
      await world().client.call('DELETE', `${UPLOADS}/${body.id}`);
    });

    it('of another account is not found', async () => {
      const { body } = await begin();
      for (const [method, path] of [
        ['GET', ''],
        ['DELETE', ''],
        ['POST', '/complete'],
      ] as const) {
        expect((await world().other.call(method, `${UPLOADS}/${body.id}${path}`)).status).toBe(404);
      }
      await world().client.call('DELETE', `${UPLOADS}/${body.id}`);
    });

    it('is refused when it is too large, or a field is wrong', async () => {
      const large = await begin({ size_bytes: 10_000_000_000 });
      expect([large.status, large.body.error.code]).toEqual([413, 'payload_too_large']);
      for (const [more, field] of [
        [{ size_bytes: 0 }, 'size_bytes'],
        [{ file_path: '../x' }, 'file_path'],
        [{ expires_in: 1 }, 'expires_in'],
      ] as const) {
        const { status, body } = await begin(more);
        expect(status).toBe(422);
        expect(body.error.details?.fields).toMatchObject([{ field }]);
      }
    });
  });
}
