import { randomBytes, randomUUID } from 'node:crypto';
import type { ClientRequest } from 'node:http';
import { blake3 } from '@napi-rs/blake-hash';
import type { Asset, ErrorEnvelope } from '@millrace/contracts';
import { eventually, type Answer } from '@millrace/testing';
import type { AssetStack } from './asset-stack';
import { answerTo, beginUpload, formOf, partsOf, postForm, type Part, type UploadAnswer } from './multipart';

/** More than one part of a multipart upload to S3, so that both ways of staging are walked. */
export const MAX_UPLOAD_BYTES = 6 * 1024 * 1024;
const hashOf = (bytes: Buffer): string => `blake3:${blake3(bytes).toString('hex')}`;
const some = (size = 1_000): Buffer => randomBytes(size);

/** What `POST /assets`, `POST /assets/from-hash` and `HEAD /assets/by-hash` promise (wire supplement, section 1). */
export function describeUploads(world: () => AssetStack): void {
  const auth = (): Record<string, string> => ({ authorization: `Bearer ${world().account.apiKey}` });
  const send = (parts: Part[], headers: Record<string, string> = {}): Promise<UploadAnswer> =>
    postForm(world().stack.publicUrl, formOf(parts), { ...auth(), ...headers });
  const known = async (hash: string): Promise<number> =>
    (await world().client.call('HEAD', `/api/v2/assets/by-hash/${hash}`)).status;
  const assetsOf = (bytes: Buffer): Promise<number> =>
    world().stack.test.database.models.asset.count({ where: { hash: hashOf(bytes) } });

  describe('POST /assets', () => {
    it('answers 201 with the whole record for bytes that are new', async () => {
      const bytes = some();
      const { status, body } = await send(
        partsOf(bytes, { content_type: 'image/png', file_path: 'in/cat.png', expires_in: '3600' }),
      );
      expect(status).toBe(201);
      expect(body).toMatchObject({
        hash: hashOf(bytes),
        size_bytes: 1_000,
        content_type: 'image/png',
        file_path: 'in/cat.png',
        created_new: true,
        tags: [],
      });
      expect(body).not.toHaveProperty('job_id');
      expect(Date.parse(body.expires_at ?? '') - Date.parse(body.created_at)).toBe(3_600_000);
      expect(new URL(body.url).origin).toBe(new URL(world().stack.publicUrl).origin);
    });

    it('answers 200 with the same record for bytes that the account has, and lets it live longer, never shorter', async () => {
      const bytes = some();
      const upload = (expires_in: string): Promise<UploadAnswer> => send(partsOf(bytes, { expires_in }));
      const first = await upload('3600');
      const shorter = await upload('60');
      expect([first.status, shorter.status]).toEqual([201, 200]);
      expect(shorter.body).toMatchObject({ id: first.body.id, created_new: false, expires_at: first.body.expires_at });
      const longer = await upload('604800');
      expect(Date.parse(longer.body.expires_at ?? '')).toBeGreaterThan(Date.parse(first.body.expires_at ?? ''));
      expect((await send(partsOf(bytes))).body).toMatchObject({ id: first.body.id, expires_at: null });
    });

    it.each([
      ['last', [0, 1, 2, 3, 4]],
      ['first', [4, 0, 1, 2, 3]],
      ['between', [2, 3, 4, 1, 0]],
    ])('takes the file %s among the parts, with tags repeated', async (_, order) => {
      const bytes = some(MAX_UPLOAD_BYTES);
      const parts: Part[] = [
        { name: 'content_type', value: 'text/plain' },
        { name: 'file_path', value: 'a.txt' },
        { name: 'tags', value: 'one' },
        { name: 'tags', value: 'two' },
        { name: 'file', fileName: 'a.txt', value: bytes },
      ];
      const { status, body } = await send(order.map((at) => parts[at] as Part));
      expect(status).toBe(201);
      expect(body).toMatchObject({ hash: hashOf(bytes), content_type: 'text/plain', size_bytes: MAX_UPLOAD_BYTES });
      expect([...body.tags].sort()).toEqual(['one', 'two']);
    });

    it.each([
      ['an unescaped quote in the file name', 'ca"t.png'],
      ['no file name to speak of', ''],
      ['a name beyond ASCII', 'Kätzchen 猫.png'],
      ['an escaped quote', 'ca\\"t.png'],
    ])('takes a Content-Disposition with %s', async (_, fileName) => {
      const bytes = some();
      const parts = partsOf(bytes).map((part) => (part.name === 'file' ? { ...part, fileName } : part));
      const { status, body } = await send(parts);
      expect([status, body.hash]).toEqual([201, hashOf(bytes)]);
    });

    it('takes fields that come under file names, and ignores parts that it does not know', async () => {
      const bytes = some();
      const { status, body } = await send([
        { name: 'content_type', fileName: 'blob', value: 'text/csv' },
        { name: 'unknown', value: 'x' },
        { name: 'attachment', fileName: 'other.bin', value: some(100_000) },
        { name: 'file', value: bytes },
        { name: 'file_path', fileName: 'blob', value: 'a.csv' },
      ]);
      expect([status, body.hash, body.content_type]).toEqual([201, hashOf(bytes), 'text/csv']);
    });

    it('takes a chunked body without a length, and bytes of none', async () => {
      const form = formOf(partsOf(Buffer.alloc(0), { file_path: randomUUID() }));
      const request = beginUpload(world().stack.publicUrl, form, { ...auth(), 'transfer-encoding': 'chunked' });
      const answer = answerTo(request);
      for (let at = 0; at < form.body.length; at += 50) request.write(form.body.subarray(at, at + 50));
      request.end();
      expect(JSON.parse((await answer).text)).toMatchObject({ size_bytes: 0, hash: hashOf(Buffer.alloc(0)) });
    });

    it('answers 409 hash_mismatch when the bytes are not the expected ones, and nothing is minted', async () => {
      const bytes = some();
      const refused = await send(partsOf(bytes, { expected_hash: hashOf(some()) }));
      expect([refused.status, refused.body.error.code]).toEqual([409, 'hash_mismatch']);
      expect([await known(hashOf(bytes)), await assetsOf(bytes)]).toEqual([404, 0]);
      const upperCase = hashOf(bytes).replace(/[a-f]+$/, (hex) => hex.toUpperCase());
      expect((await send(partsOf(bytes, { expected_hash: upperCase }))).status).toBe(201);
    });

    it.each([
      ['file', (parts: Part[]) => parts.filter(({ name }) => name !== 'file')],
      ['content_type', (parts: Part[]) => parts.filter(({ name }) => name !== 'content_type')],
      ['file_path', (parts: Part[]) => parts.filter(({ name }) => name !== 'file_path')],
      ['content_type', (parts: Part[]) => [...parts.slice(1), { name: 'content_type', value: 'no type' }]],
      ['expires_in', (parts: Part[]) => [{ name: 'expires_in', value: '59' }, ...parts]],
      ['expires_in', (parts: Part[]) => [{ name: 'expires_in', value: '604801' }, ...parts]],
      ['expected_hash', (parts: Part[]) => [{ name: 'expected_hash', value: 'sha256:00' }, ...parts]],
      ['tags', (parts: Part[]) => [{ name: 'tags', value: '' }, ...parts]],
    ])('answers 422 invalid_request that names the field %s when it is missing or wrong', async (field, change) => {
      const bytes = some();
      const { status, body } = await send(change(partsOf(bytes)));
      expect([status, body.error.code]).toEqual([422, 'invalid_request']);
      expect(body.error.details?.fields).toEqual([{ field, reason: expect.any(String) as string }]);
      expect(await assetsOf(bytes)).toBe(0);
    });

    const faultsOf = ({ status, body }: UploadAnswer): unknown => [
      status,
      (body.error?.details?.fields as { field: string }[]).map(({ field }) => field),
    ];

    it('names all fields that are wrong or missing at once, a missing file too', async () => {
      expect(faultsOf(await send([{ name: 'expires_in', value: '5' }]))).toEqual([
        422,
        ['file', 'content_type', 'file_path', 'expires_in'],
      ]);
    });

    it('whose file name has a line break, as the official client for Python sends it, is refused for that', async () => {
      const parts = partsOf(some(), { file_path: 'a\nb.png' }).map((part) =>
        part.name === 'file' ? { ...part, fileName: 'a\nb.png' } : part,
      );
      const answer = await send(parts);
      expect(faultsOf(answer)).toEqual([422, ['file', 'file_path']]);
      expect(answer.body.error.message).toContain('line break');
    });

    it.each(['file_path', 'tags', 'content_type'])(
      'whose field %s is not UTF-8 is refused with 400, by its name',
      async (name) => {
        const latin1 = Buffer.from('K\xe4tzchen', 'latin1');
        const parts = partsOf(some()).filter((part) => part.name !== name);
        expect(faultsOf(await send([{ name, value: latin1 }, ...parts]))).toEqual([400, [name]]);
      },
    );

    it.each(['gzip', 'GZIP', 'br, identity'])('in the content encoding %s is refused with 415', async (encoding) => {
      const { status, body } = await send(partsOf(some()), { 'content-encoding': encoding });
      expect([status, body.error.code]).toEqual([415, 'unsupported_media_type']);
    });

    it('in the content encoding that is none is taken, in any case', async () => {
      expect((await send(partsOf(some()), { 'content-encoding': 'Identity' })).status).toBe(201);
    });

    it.each(['../secret', '/etc/passwd', 'a/../../b', '..\\..\\b', 'C:\\boot.ini', 'a\u202eb.png'])(
      'refuses the file_path %j, which leads elsewhere or deceives',
      async (file_path) => {
        const { status, body } = await send(partsOf(some(), { file_path }));
        expect([status, body.error.code]).toEqual([422, 'invalid_request']);
        expect(body.error.details?.fields).toMatchObject([{ field: 'file_path' }]);
      },
    );

    it('answers 413 payload_too_large, with or without a length that says so, and keeps nothing', async () => {
      const bytes = some(MAX_UPLOAD_BYTES + 1);
      const refused = await send(partsOf(bytes));
      expect([refused.status, refused.body.error.code]).toEqual([413, 'payload_too_large']);
      expect(await known(hashOf(bytes))).toBe(404);
      const form = formOf(partsOf(bytes));
      const declared = { ...auth(), 'content-length': String(100 * MAX_UPLOAD_BYTES) };
      const request = beginUpload(world().stack.publicUrl, form, declared);
      const answer = answerTo(request);
      request.flushHeaders();
      expect((await answer).status).toBe(413);
      request.destroy();
    });

    it('answers 415 for a body that is no form, and 400 for a form that cannot be read', async () => {
      const base = world().stack.publicUrl;
      const json = { body: Buffer.from('{}'), contentType: 'application/json' };
      expect((await postForm(base, json, auth())).body.error.code).toBe('unsupported_media_type');
      const form = formOf(partsOf(some()));
      const cut = { ...form, body: form.body.subarray(0, form.body.length - 60) };
      const refused = await postForm(base, cut, auth());
      expect([refused.status, refused.body.error.code]).toEqual([400, 'invalid_request']);
      const nameless = await postForm(base, { ...form, contentType: 'multipart/form-data' }, auth());
      expect([nameless.status, nameless.body.error.code]).toEqual([400, 'invalid_request']);
    });

    it('keeps the accounts apart: what one has is new to the other', async () => {
      const bytes = some();
      expect((await send(partsOf(bytes))).status).toBe(201);
      const theirs = await world().other.upload(bytes, { content_type: 'text/plain', file_path: 'a.txt' });
      expect(theirs.status).toBe(201);
    });

    it('is one asset and one 201 when the same bytes arrive twenty times at once', async () => {
      const parts = partsOf(some());
      const answers = await Promise.all(Array.from({ length: 20 }, () => send(parts)));
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    });
  });

  describe('the Idempotency-Key of an upload', () => {
    const keyed = (key: string, parts = partsOf(some())): Promise<UploadAnswer> =>
      send(parts, { 'idempotency-key': key });
    const reused = [422, 'idempotency_key_reuse'];
    const codeOf = ({ status, body }: UploadAnswer): unknown[] => [status, body.error?.code];

    it('is used once: any later request with it is refused, with any body, and nothing is replayed', async () => {
      const key = randomUUID();
      const parts = partsOf(some());
      expect((await keyed(key, parts)).status).toBe(201);
      const [same, otherBytes] = [await keyed(key, parts), await keyed(key)];
      expect([codeOf(same), codeOf(otherBytes)]).toEqual([reused, reused]);
      expect(same.headers.has('idempotency-replayed')).toBe(false);
    });

    it('lets one of twenty requests through that present it at once', async () => {
      const key = randomUUID();
      const answers = await Promise.all(Array.from({ length: 20 }, () => keyed(key)));
      expect(answers.map(codeOf).sort()).toEqual([[201, undefined], ...Array.from({ length: 19 }, () => reused)]);
    });

    it.each([
      ['409', partsOf(some(), { expected_hash: hashOf(some()) })],
      ['413', partsOf(some(MAX_UPLOAD_BYTES + 1))],
      ['422', partsOf(some(), { expires_in: '1' })],
    ])('is released by a %s', async (status, parts) => {
      const key = randomUUID();
      expect((await keyed(key, parts)).status).toBe(Number(status));
      expect((await keyed(key)).status).toBe(201);
    });

    it('is released by an upload that breaks off, of which nothing is left', async () => {
      const key = randomUUID();
      const bytes = some(3_000_000);
      const form = formOf(partsOf(bytes));
      const begun = beginUpload(world().stack.publicUrl, form, { ...auth(), 'idempotency-key': key });
      const broken = answerTo(begun).catch(() => null);
      await new Promise<void>((sent) => begun.write(form.body.subarray(0, 2_000_000), () => sent()));
      begun.destroy();
      await broken;
      expect(await known(hashOf(bytes))).toBe(404);
      expect((await keyed(key)).status).toBe(201);
    });

    it('that was used is refused before the bytes are sent', async () => {
      const key = randomUUID();
      await keyed(key);
      const form = formOf(partsOf(some()));
      const request = beginUpload(world().stack.publicUrl, form, { ...auth(), 'idempotency-key': key });
      const answer = answerTo(request);
      request.flushHeaders();
      expect((await answer).status).toBe(422);
      request.destroy();
    });

    it('is forgotten after 24 hours, and is one of its account and of uploads alone', async () => {
      const key = randomUUID();
      await keyed(key);
      const { models } = world().stack.test.database;
      const row = { accountId: world().account.id, operation: 'postAssets', key };
      const { createdAt, expiresAt } = await models.idempotencyKey.findFirstOrThrow({ where: row });
      expect(expiresAt.getTime() - createdAt.getTime()).toBe(86_400_000);
      const fields = { content_type: 'text/plain', file_path: 'a.txt' };
      expect((await world().other.upload(some(), fields, { 'idempotency-key': key })).status).toBe(201);
      const graph = {
        '1': { class_type: 'PrimitiveInt', inputs: { value: 1 } },
        '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
      };
      const job = await world().client.submit(JSON.stringify({ workflow: graph }), { 'Idempotency-Key': key });
      expect(job.status).toBe(201);
      await models.idempotencyKey.updateMany({ where: row, data: { expiresAt: new Date(Date.now() - 1_000) } });
      expect((await keyed(key)).status).toBe(201);
    });

    it('may have spaces inside', async () => {
      const key = `my upload ${randomUUID()}`;
      expect((await keyed(key)).status).toBe(201);
      expect(codeOf(await keyed(key))).toEqual(reused);
    });

    it.each([
      ['beyond ASCII', 'schl\u00fcssel'],
      ['too long', 'k'.repeat(256)],
      ['empty', ''],
    ])('%s is refused by name', async (_, key) => {
      const { status, body } = await keyed(key);
      expect(status).toBe(422);
      expect(body.error.details?.fields).toMatchObject([{ field: 'Idempotency-Key' }]);
    });
  });

  describe('bytes that were uploaded before', () => {
    const upload = async (bytes: Buffer): Promise<Asset> => (await send(partsOf(bytes))).body;
    const mint = (body: object): Promise<Answer<Asset & ErrorEnvelope>> =>
      world().client.call('POST', '/api/v2/assets/from-hash', { json: body });

    it('are found by HEAD /assets/by-hash, the colon escaped or not, in either case, without a body', async () => {
      const { hash } = await upload(some());
      const hex = (hash ?? '').slice('blake3:'.length);
      for (const spelling of [`blake3:${hex}`, `blake3%3A${hex}`, `blake3%3a${hex.toUpperCase()}`]) {
        expect(await known(spelling)).toBe(200);
      }
      for (const unknown of [hashOf(some()), 'blake3:12', 'sha256:12']) expect(await known(unknown)).toBe(404);
    });

    it('become an asset by POST /assets/from-hash: 201 minted, 200 when the same reference is there', async () => {
      const { hash } = await upload(some());
      const body = { hash, file_path: 'again.bin', tags: ['again'], expires_in: 3_600 };
      const made = await mint(body);
      expect(made.status).toBe(201);
      expect(made.body).toMatchObject({ hash, file_path: 'again.bin', tags: ['again'], created_new: false });
      const found = await mint({ ...body, hash: hash?.toUpperCase().replace('BLAKE3', 'blake3') });
      expect([found.status, found.body.id]).toEqual([200, made.body.id]);
      expect(found.body.created_new).toBe(false);
    });

    it('are found for the grace after their last asset went', async () => {
      const { id, hash } = await upload(some());
      await world().client.call('DELETE', `/api/v2/assets/${id}`);
      expect(await known(hash ?? '')).toBe(200);
      expect((await mint({ hash })).status).toBe(201);
    });

    it('of another account look like none at all', async () => {
      const { hash } = await upload(some());
      const path = '/api/v2/assets/from-hash';
      const theirs = await world().other.call('POST', path, { json: { hash } });
      const absentHash = hashOf(some());
      const absent = await world().other.call('POST', path, { json: { hash: absentHash } });
      expect([theirs.status, theirs.body.error.code]).toEqual([404, 'blob_not_found']);
      const text = (answer: { text: string }): string => answer.text.replace(/blake3:\w+/, '');
      expect(text(absent)).toBe(text(theirs));
      expect((await world().other.call('HEAD', `/api/v2/assets/by-hash/${hash}`)).status).toBe(404);
    });

    it.each([
      [{ hash: 'blake3:1' }, 'hash'],
      [{}, 'hash'],
      [{ hash: 'x', expires_in: 5 }, 'expires_in'],
      [{ hash: `blake3:${'0'.repeat(64)}`, file_path: '../x' }, 'file_path'],
    ])('are not looked for when the request is wrong: %j', async (body, field) => {
      const refused = await mint(body);
      expect([refused.status, refused.body.error.code]).toEqual([422, 'invalid_request']);
      expect(refused.body.error.details?.fields).toContainEqual({ field, reason: expect.any(String) as string });
    });

    it('are asked for with every wrong field named at once, in plain words', async () => {
      const refused = await mint({ hash: 'x', file_path: '../x', tags: [1], expires_in: '60' });
      expect(refused.body.error.details?.fields).toEqual([
        { field: 'hash', reason: 'must be blake3: and 64 hexadecimal digits' },
        { field: 'tags', reason: 'must be a list of texts' },
        { field: 'file_path', reason: 'must not contain ..' },
        { field: 'expires_in', reason: 'must be a whole number of seconds from 60 to 604800' },
      ]);
      expect((await mint({})).body.error.details?.fields).toEqual([
        { field: 'hash', reason: 'is required: blake3: and 64 hexadecimal digits' },
      ]);
    });
  });

  it('an upload that breaks off leaves nothing in the store', async () => {
    const form = formOf(partsOf(some(5_900_000)));
    const begun: ClientRequest = beginUpload(world().stack.publicUrl, form, auth());
    const broken = answerTo(begun).catch(() => null);
    await new Promise<void>((sent) => begun.write(form.body.subarray(0, 5_500_000), () => sent()));
    begun.destroy();
    await broken;
    await eventually('what was staged to go', async () => (await world().stagedObjects()) === 0);
  });
}
