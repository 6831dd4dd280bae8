import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { Prisma } from '@prisma/client';
import { makeAccount } from '@millrace/testing';
import { createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import { FaultyBlobStore } from '../fixtures/faulty-blob-store';
import { StorageStore } from '../records';
import { RecountStorageLoop } from './recount-storage.loop';
import { SweepStagingLoop } from './sweep-staging.loop';

const fields = {
  contentType: 'text/plain',
  filePath: null,
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

/** Record orphans that no store has, older than the grace. */
const orphans = (count: number, age: string): Promise<number> =>
  world.database.execute(Prisma.sql`
    INSERT INTO blobs (account_id, hash, size_bytes, orphaned_at)
    SELECT ${accountId}::uuid, 'blake3:' || md5(${age} || n) || md5(n::text), 1, now() - ${age}::interval
    FROM generate_series(1, ${count}) n`);

it('an upload that cannot be dropped does not keep the others from being dropped', async () => {
  const begin = (): Promise<{ id: string }> => here.resumable.begin(accountId, 10, fields, { uploadBytesPerDay: null });
  const [poison, other] = [await begin(), await begin()];
  await world.database.execute(Prisma.sql`
    UPDATE resumable_uploads SET expires_at = now() - interval '1 second',
      handle = CASE WHEN id = ${poison.id}::uuid THEN 'no handle of this store' ELSE handle END`);
  expect(await here.runLoop('sweep-uploads')).toBe(1);
  const left = await world.database.models.resumableUpload.findMany({ where: { accountId } });
  expect(left.map(({ id }) => id)).toEqual([poison.id]);
  expect(left.map(({ id }) => id)).not.toContain(other.id);
});

it('expired uploads are met page by page, each once', async () => {
  const due: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    due.push((await here.resumable.begin(accountId, 10, fields, { uploadBytesPerDay: null })).id);
  }
  await world.database.execute(Prisma.sql`
    UPDATE resumable_uploads
    SET expires_at = CASE WHEN account_id = ${accountId}::uuid THEN now() - interval '1 second' ELSE 'infinity' END`);
  const met: string[] = [];
  for (let page = await here.resumable.listExpired(null, 2); page.length > 0 && met.length < 100;) {
    met.push(...page.map(({ id }) => id));
    page = await here.resumable.listExpired(page.at(-1)?.id ?? null, 2);
  }
  expect(met).toEqual(due.sort());
});

it('any number of objects that cannot be deleted do not keep the others from being deleted', async () => {
  await orphans(150, '3 hours');
  await orphans(1, '2 hours');
  const store = new FaultyBlobStore(world.store);
  let deleted = 0;
  jest.spyOn(store, 'delete').mockImplementation(async () => {
    deleted += 1;
    // All of the first page and some of the second.
    if (deleted <= 150) throw new Error('access denied');
  });
  const loop = world.process(store).loops.find(({ name }) => name === 'sweep-blobs');
  const failed: string[] = [];
  const report = { failed: (item: string) => void failed.push(item), resting: () => undefined };
  expect(await loop?.runOnce(report)).toBe(1);
  expect(new Set(failed).size).toBe(150);
  expect(await world.blobs(accountId)).toHaveLength(150);
  // They rest until their time: no run tries them before.
  expect(await loop?.runOnce(report)).toBe(0);
  expect(deleted).toBe(151);
});

it('staged bytes that cannot be dropped do not keep the others from being dropped', async () => {
  const later = new Date(Date.now() + 60_000);
  // Of the tests before.
  for await (const leftover of world.store.stagedBefore(later)) await leftover.drop();
  // Fewer bytes would have no file.
  const size = 100_000;
  for (let count = 0; count < 3; count += 1) {
    await world.store.stage(Readable.from([randomBytes(size)]), { maxBytes: size });
  }
  let isFirst = true;
  const stagedBefore = async function* (): AsyncGenerator<{ name: string; drop(): Promise<void> }> {
    for await (const leftover of world.store.stagedBefore(later)) {
      yield isFirst ? { ...leftover, drop: () => Promise.reject(new Error('access denied')) } : leftover;
      isFirst = false;
    }
  };
  expect(await new SweepStagingLoop({ stagedBefore }).runOnce()).toBe(2);
});

it('an expired asset that cannot be deleted does not keep the others from being deleted', async () => {
  const uploads: string[] = [];
  for (let count = 0; count < 20; count += 1) uploads.push((await here.upload(accountId, randomBytes(20))).asset.id);
  await world.letExpire(uploads);
  const [bad] = uploads.slice(11);
  await world.database.execute(Prisma.sql`
    CREATE TRIGGER poison_trigger BEFORE DELETE ON assets FOR EACH ROW WHEN (OLD.id = ${Prisma.raw(`'${bad}'`)})
      EXECUTE FUNCTION refuse_change('a row that cannot be read')`);
  const failed: string[] = [];
  const report = { failed: (item: string) => void failed.push(item), resting: () => undefined };
  const loop = here.loops.find(({ name }) => name === 'expire-assets');
  expect(await loop?.runOnce(report)).toBe(19);
  expect(await loop?.runOnce(report)).toBe(0);
  expect(failed).toEqual([bad]);
  const left = await world.database.models.asset.findMany({ where: { accountId } });
  expect(left.map(({ id }) => id)).toEqual([bad]);
  // Their blobs are orphans, as after any removal; the one that is left is not.
  expect((await world.blobs(accountId)).filter(({ state }) => state === 'live')).toHaveLength(1);
});

it('an account whose bytes cannot be counted keeps none behind it from being corrected', async () => {
  const { database } = world;
  // More than two pages, each with a wrong count.
  await Promise.all(Array.from({ length: 210 }, () => makeAccount(database)));
  await database.execute(Prisma.sql`
    INSERT INTO account_storage (account_id, stored_bytes) SELECT id, 7 FROM accounts
    ON CONFLICT (account_id) DO UPDATE SET stored_bytes = account_storage.stored_bytes + 7`);
  const [poison = '', uncounted = ''] = (
    await database.models.account.findMany({ orderBy: { id: 'asc' }, take: 2, select: { id: true } })
  ).map(({ id }) => id);
  const [storage, sound] = [new StorageStore(), new StorageStore()];
  jest.spyOn(storage, 'recount').mockImplementation((tx, id) => {
    if (id === poison) throw new Error('the row is damaged');
    return sound.recount(tx, id);
  });
  jest.spyOn(storage, 'counts').mockImplementation((tx, ids) => {
    if (ids.includes(uncounted)) throw new Error('canceling statement due to statement timeout');
    return sound.counts(tx, ids);
  });
  const loop = new RecountStorageLoop(database, storage);
  const failed: string[] = [];
  const report = { failed: (item: string) => void failed.push(item), resting: () => undefined };
  for (let run = 0; run < 3; run += 1) await loop.runOnce(report);
  expect(failed.sort()).toEqual([poison, uncounted].sort());
  expect(
    (
      await database.rows<{ accountId: string }>(Prisma.sql`
    SELECT s.account_id FROM account_storage s
    WHERE s.stored_bytes <> (SELECT coalesce(sum(size_bytes), 0) FROM blobs b WHERE b.account_id = s.account_id)
    ORDER BY s.account_id`)
    ).map(({ accountId: id }) => id),
  ).toEqual([poison, uncounted]);
  await database.execute(Prisma.sql`SELECT recount_stored_bytes(id) FROM accounts`);
});
