import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { eventually, makeAccount, readingRows } from '@millrace/testing';
import { createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import { ResumableUploadStore, type ResumableUpload } from './resumable-upload.store';
import { wholeAccount } from '../records/asset-scope.store';

const noLimit = { uploadBytesPerDay: null };
const fields = {
  contentType: 'text/plain',
  filePath: 'a.txt',
  tags: [],
  expiresInSeconds: null,
  labels: null,
  expectedHash: null,
};
let world: AssetWorld;
let here: AssetProcess;
let accountId: string;
beforeAll(async () => {
  world = await createAssetWorld();
  here = world.process();
});
afterAll(() => world.drop());
beforeEach(async () => {
  accountId = await makeAccount(world.database);
});

const begin = (sizeBytes = 1_000): Promise<ResumableUpload> =>
  here.resumable.begin(accountId, sizeBytes, fields, noLimit);
const send = (id: string, bytes: Buffer): Promise<void> =>
  here.resumable.receive(accountId, id, 1, Readable.from([bytes]));
const code = (expected: string): unknown => expect.objectContaining({ name: 'Refusal', code: expected });

describe('an upload in parts', () => {
  it('that is not completed in time is swept with its parts, and is not found from then on', async () => {
    const [old, young] = [await begin(), await begin()];
    await send(old.id, randomBytes(1_000));
    const past = new Date(Date.now() - 1_000);
    await world.database.models.resumableUpload.update({ where: { id: old.id }, data: { expiresAt: past } });
    expect(await here.runLoop('sweep-uploads')).toBe(1);
    await expect(here.resumable.get(wholeAccount(accountId), old.id)).rejects.toEqual(code('not_found'));
    expect(await world.store.parts.list(old.handle)).toEqual([]);
    expect((await here.resumable.get(wholeAccount(accountId), young.id)).id).toBe(young.id);
  });

  it('is completed by one of many requests at once; the others are refused, or get its asset', async () => {
    const { id } = await begin();
    await send(id, randomBytes(1_000));
    const all = await Promise.allSettled(
      Array.from({ length: 5 }, () => here.resumable.complete(wholeAccount(accountId), id, noLimit)),
    );
    const made = all.filter((one) => one.status === 'fulfilled').map(({ value }) => value);
    expect(made.filter(({ createdNew }) => createdNew)).toHaveLength(1);
    for (const one of all) {
      if (one.status === 'fulfilled') continue;
      expect(one.reason).toEqual(code('upload_incomplete'));
      expect((one.reason as Error).message).toContain('Complete it again in a moment: the answer is the asset.');
    }
    expect((await here.resumable.complete(wholeAccount(accountId), id, noLimit)).asset.id).toBe(made[0]?.asset.id);
    expect(await world.database.models.asset.count({ where: { accountId } })).toBe(1);
  });

  it('counts towards the bytes of the day, before its parts and when it is completed', async () => {
    const limited = { uploadBytesPerDay: 1_500 };
    const { id } = await here.resumable.begin(accountId, 1_000, fields, limited);
    await send(id, randomBytes(1_000));
    await here.resumable.complete(wholeAccount(accountId), id, limited);
    await expect(here.resumable.begin(accountId, 1_000, fields, limited)).rejects.toEqual(code('rate_limited'));
  });

  it('is read in turn by one account, and no other waits for that', async () => {
    const upload = await begin();
    const ends: (() => void)[] = [];
    const listed = jest.spyOn(world.store.parts, 'list').mockImplementation(async () => {
      await new Promise<void>((resolve) => ends.push(resolve));
      return [];
    });
    const missing = expect(here.resumable.complete(wholeAccount(accountId), upload.id, noLimit)).rejects.toEqual(
      code('upload_incomplete'),
    );
    const reads = Array.from({ length: 3 }, () => here.resumable.partsOf(upload));
    const other = await here.resumable.begin(await makeAccount(world.database), 1_000, fields, noLimit);
    const read = here.resumable.partsOf(other);
    await eventually('one of each account is read', () => ends.length === 2);
    for (let answered = 0; answered < 5; answered += 1) {
      await eventually('the next is read', () => ends.length > 0);
      expect(ends.length).toBeLessThanOrEqual(2);
      ends.shift()?.();
    }
    await Promise.all([missing, read, ...reads]);
    expect(listed).toHaveBeenCalledTimes(5);
    listed.mockRestore();
  });

  it('is completed alone of its account, whose others wait, and no other account waits for that', async () => {
    const other = await makeAccount(world.database);
    const uploads = await Promise.all(
      [accountId, accountId, other].map(async (owner) => {
        const { id } = await here.resumable.begin(owner, 1_000, fields, noLimit);
        await here.resumable.receive(owner, id, 1, Readable.from([randomBytes(1_000)]));
        return { owner, id };
      }),
    );
    const assemble = world.store.parts.assemble.bind(world.store.parts);
    const ends: (() => void)[] = [];
    const assembled = jest.spyOn(world.store.parts, 'assemble').mockImplementation(async (...args) => {
      await new Promise<void>((resolve) => ends.push(resolve));
      return assemble(...args);
    });
    const made = uploads.map(({ owner, id }) => here.resumable.complete(wholeAccount(owner), id, noLimit));
    await eventually('one of each account is read', () => ends.length === 2);
    expect(assembled).toHaveBeenCalledTimes(2);
    for (let read = 0; read < 3; read += 1) {
      await eventually('the next is read', () => ends.length > 0);
      ends.shift()?.();
    }
    expect((await Promise.all(made)).map(({ createdNew }) => createdNew)).toEqual([true, true, true]);
    assembled.mockRestore();
  });

  it('is not read for an account that was closed while it waited for its completion', async () => {
    const owner = await makeAccount(world.database);
    const { id } = await here.resumable.begin(owner, 1_000, fields, noLimit);
    await here.resumable.receive(owner, id, 1, Readable.from([randomBytes(1_000)]));
    await world.database.execute(Prisma.sql`
      UPDATE accounts SET status = 'suspended', closed_at = now() WHERE id = ${owner}::uuid`);
    const assembled = jest.spyOn(world.store.parts, 'assemble');
    await expect(here.resumable.complete(wholeAccount(owner), id, noLimit)).rejects.toEqual(code('forbidden'));
    expect(assembled).not.toHaveBeenCalled();
    assembled.mockRestore();
  });

  it('is one of at most twenty that an account has open', async () => {
    const open = await Promise.all(Array.from({ length: 20 }, () => begin()));
    const first = open.map(({ expiresAt }) => expiresAt.toISOString()).sort()[0];
    await expect(begin()).rejects.toMatchObject({
      code: 'rate_limited',
      message: expect.stringContaining(
        `DELETE /api/v2/uploads/{id}); the next of them ends by itself at ${first}.`,
      ) as string,
      details: { open_uploads: 20, next_ends_at: first },
    });
    await here.resumable.abort(wholeAccount(accountId), open[0]?.id ?? '');
    expect((await begin()).accountId).toBe(accountId);
  });

  it('that was completed outlives its row: the asset stays when the upload is dropped', async () => {
    const { id } = await begin();
    await send(id, randomBytes(1_000));
    const { asset } = await here.resumable.complete(wholeAccount(accountId), id, noLimit);
    await here.resumable.abort(wholeAccount(accountId), id);
    expect((await here.assets.get(wholeAccount(accountId), asset.id)).id).toBe(asset.id);
  });

  it('finds room among the open ones without reading those that were completed', async () => {
    await world.database.execute(Prisma.sql`
      INSERT INTO resumable_uploads (id, account_id, handle, size_bytes, part_bytes, fields, asset_id, expires_at)
      SELECT gen_random_uuid(), ${accountId}::uuid, 'gone', 1, 1, '{}', gen_random_uuid(), now() + interval '1 day' FROM generate_series(1, 5000)`);
    await world.database.execute(Prisma.sql`ANALYZE resumable_uploads`);
    await begin();
    const store = new ResumableUploadStore();
    const draft = { id: newId(), accountId, handle: 'one', sizeBytes: 1, partBytes: 1, fields };
    const insert = (openLimit: number): Promise<{ result: ResumableUpload | null; rows: number }> =>
      world.database.transaction((tx) =>
        readingRows(tx, 'resumable_uploads', () => store.insert(tx, draft, { lifetimeSeconds: 60, openLimit })),
      );
    expect((await insert(1)).result).toBeNull();
    const { result, rows } = await insert(2);
    expect(result?.id).toBe(draft.id);
    expect(rows).toBeLessThan(20);
  });
});
