import { Readable } from 'node:stream';
import { Prisma } from '@prisma/client';
import { lowestIdAt, newId } from '@millrace/contracts';
import { makeAccount } from '@millrace/testing';
import { FaultyBlobStore } from '../fixtures/faulty-blob-store';
import { createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import type { AssetRecord } from '../records/asset';
import { wholeAccount } from '../records/asset-scope.store';
import type { StoredOutput } from '../records/asset.service';
import { BlobDamages } from '../records/blob-damages.service';

let world: AssetWorld;
let process: AssetProcess;
let accountId: string;
beforeAll(async () => {
  world = await createAssetWorld();
  process = world.process();
});
beforeEach(async () => {
  accountId = await makeAccount(world.database);
});
afterAll(() => world.drop());

const HERS = { user: 'ada' };
const upload = async (text: string, labels: Record<string, string> | null = HERS): Promise<AssetRecord> =>
  (await process.upload(accountId, Buffer.from(text), { labels, filePath: `${text}.txt` })).asset;
const erase = (ids: string[]): Promise<number> =>
  world.database.transaction((tx) => process.eraser.delete(tx, accountId, ids));
const removeBytes = async (): Promise<void> => {
  while ((await process.eraser.removeBytes(accountId)) > 0);
};
const find = (id: string) => world.database.models.asset.findUnique({ where: { id } });

it('its bytes go at once, without the grace that orphans have', async () => {
  const asset = await upload('a');
  expect(await erase([asset.id])).toBe(1);
  await removeBytes();
  expect(await world.blobs(accountId)).toEqual([]);
  await expect(process.read(asset)).rejects.toThrow();
});

it('bytes that another asset of the account refers to stay for that', async () => {
  const hers = await upload('same');
  const bobs = await upload('same', { user: 'bob' });
  expect(hers.id).not.toBe(bobs.id);
  expect(await erase([hers.id])).toBe(1);
  await removeBytes();
  expect((await process.read(bobs)).toString()).toBe('same');
});

it('bytes that another uploads at that moment are stored for that', async () => {
  const hers = await upload('same');
  // The last that is done with what was kept, before an asset is minted from it.
  jest.spyOn(BlobDamages.prototype, 'noteMended').mockImplementationOnce(async () => {
    await erase([hers.id]);
    await removeBytes();
  });
  const bobs = await upload('same', { user: 'bob' });
  expect(await find(hers.id)).toBeNull();
  expect((await process.read(bobs)).toString()).toBe('same');
  expect(await world.blobs(accountId)).toMatchObject([{ state: 'live', assets: 1 }]);
});

it('an output that a job made meanwhile of the same bytes can be stored again and recorded', async () => {
  const hers = await upload('same');
  const jobId = await world.jobFor(accountId);
  const store = (): Promise<StoredOutput> =>
    process.assets.storeOutput(accountId, Readable.from([Buffer.from('same')]), { name: 'a.txt' });
  const record = ({ blob, contentType }: StoredOutput) => world.mintOutput(jobId, { blob, contentType, name: 'a.txt' });
  const early = await store();
  await erase([hers.id]);
  expect(await record(early)).toBeNull();
  expect(await record(await store())).not.toBeNull();
});

it('bytes that the store refuses to delete keep no others', async () => {
  const texts = Array.from({ length: 12 }, (_, n) => `text ${n}`);
  const ids: string[] = [];
  for (const text of texts) ids.push((await upload(text)).id);
  await erase(ids);
  const store = new FaultyBlobStore(world.store);
  const refused = new Set<string>();
  jest.spyOn(store, 'delete').mockImplementation((key) => {
    if (refused.size < 9) refused.add(key);
    return refused.has(key) ? Promise.reject(new Error('access denied')) : world.store.delete(key);
  });
  const { eraser } = world.process(store);
  let gone = 0;
  const removeAll = async (): Promise<void> => {
    for (let count = await eraser.removeBytes(accountId); count > 0; count = await eraser.removeBytes(accountId)) {
      gone += count;
    }
  };
  await expect(removeAll()).rejects.toThrow('access denied');
  expect(gone).toBe(3);
  expect(await world.blobs(accountId)).toHaveLength(9);
});

it("one that another's job reads loses its name and labels, and goes with the job", async () => {
  const asset = await upload('read');
  const jobId = await world.jobReading(asset);
  expect(await erase([asset.id])).toBe(0);
  expect(await find(asset.id)).toMatchObject({ filePath: 'erased.txt', labels: null, tags: [] });
  expect((await process.read(asset)).toString()).toBe('read');
  await world.dropJob(jobId);
  await world.letExpire([asset.id]);
  await process.runLoop('expire-assets');
  expect(await find(asset.id)).toBeNull();
});

it('an asset of another account is not found', async () => {
  const asset = await upload('own');
  accountId = await makeAccount(world.database);
  expect(await erase([asset.id])).toBe(0);
  expect(await find(asset.id)).toMatchObject({ filePath: 'own.txt' });
});

describe('an upload in parts that a request is completing', () => {
  const ADA = { kind: 'label', label: 'user', value: 'ada' } as const;
  const ACCOUNT = { kind: 'account' } as const;
  const noLimit = { uploadBytesPerDay: null };
  const fields = { contentType: 'text/plain', filePath: 'a.txt', tags: [], expiresInSeconds: null, expectedHash: null };
  const begin = async (labels: Record<string, string> = HERS): Promise<string> =>
    (await process.resumable.begin(accountId, 3, { ...fields, labels }, noLimit)).id;
  const hold = (until: Date) =>
    world.database.models.resumableUpload.updateMany({ where: { accountId }, data: { heldUntil: until } });
  const later = (): Date => new Date(Date.now() + 3_600_000);

  it.each([ADA, ACCOUNT])('is not dropped, and said to be there until that is over: %j', async (subject) => {
    await begin();
    await hold(later());
    expect(await process.eraser.dropUploads(accountId, subject)).toEqual({ uploads: 0, refusal: null });
    expect(await process.eraser.hasHeldUpload(accountId, subject)).toBe(true);
    await hold(new Date(0));
    expect(await process.eraser.hasHeldUpload(accountId, subject)).toBe(false);
    expect(await process.eraser.dropUploads(accountId, subject)).toEqual({ uploads: 1, refusal: null });
  });

  it('keeps no other from being dropped that the store refuses to drop', async () => {
    const [poison] = [await begin(), await begin()];
    await world.database.execute(Prisma.sql`
      UPDATE resumable_uploads SET handle = 'no handle of this store' WHERE id = ${poison}::uuid`);
    expect(await process.eraser.dropUploads(accountId, ADA)).toMatchObject({ uploads: 1 });
    expect(await process.eraser.dropUploads(accountId, ADA)).toMatchObject({
      uploads: 0,
      refusal: expect.any(Error) as Error,
    });
    const left = await world.database.models.resumableUpload.findMany({ where: { accountId } });
    expect(left.map(({ id }) => id)).toEqual([poison]);
  });

  it("is not waited for where it is another's", async () => {
    await begin({ user: 'bob' });
    await hold(later());
    expect(await process.eraser.hasHeldUpload(accountId, ADA)).toBe(false);
    accountId = await makeAccount(world.database);
    expect(await process.eraser.hasHeldUpload(accountId, ACCOUNT)).toBe(false);
  });

  it('becomes no asset of an account that was closed, which begins no other', async () => {
    const id = await begin();
    await process.resumable.receive(accountId, id, 1, Readable.from([Buffer.from('abc')]));
    const data = { status: 'suspended', closedAt: new Date() };
    await world.database.models.account.update({ where: { id: accountId }, data });
    await expect(process.resumable.complete(wholeAccount(accountId), id, noLimit)).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(begin()).rejects.toMatchObject({ code: 'forbidden' });
    expect(await world.database.models.asset.count({ where: { accountId } })).toBe(0);
  });
});

describe('an upload in one request', () => {
  const SETTLED = new Date('2030-01-01T00:00:00Z');
  const DAY_MS = 86_400_000;
  const noLimit = { uploadBytesPerDay: null };
  const begunAt = async (at: number, id = newId()): Promise<void> => {
    const room = { id, accountId, sizeBytes: 3n, expiresAt: new Date(at + DAY_MS) };
    await world.database.models.storageReservation.create({ data: room });
  };

  it.each([
    ['an id of later', lowestIdAt(SETTLED.getTime() + DAY_MS)],
    ['an id of long ago', lowestIdAt(1)],
  ])('is waited for when it began before nothing of the subject could begin any more: %s', async (_, id) => {
    await begunAt(SETTLED.getTime() - 1, id);
    expect(await process.eraser.hasUploadBefore(accountId, SETTLED)).toBe(true);
  });

  it('is not waited for when it began later', async () => {
    await begunAt(SETTLED.getTime(), lowestIdAt(0));
    expect(await process.eraser.hasUploadBefore(accountId, SETTLED)).toBe(false);
  });

  it('becomes no asset of an account that was closed meanwhile', async () => {
    const staged = await process.uploads.stage(accountId, Readable.from([Buffer.from('abc')]), noLimit);
    const data = { status: 'suspended', closedAt: new Date() };
    await world.database.models.account.update({ where: { id: accountId }, data });
    const fields = { contentType: 'text/plain', filePath: 'a.txt', tags: [], expiresInSeconds: null };
    const commit = process.uploads.commit(accountId, staged, { ...fields, labels: null, expectedHash: null }, noLimit);
    await expect(commit).rejects.toMatchObject({ code: 'forbidden' });
    expect(await world.database.models.asset.count({ where: { accountId } })).toBe(0);
  });
});
