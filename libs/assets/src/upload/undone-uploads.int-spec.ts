import { randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { makeAccount, undoNext } from '@millrace/testing';
import { createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import { wholeAccount } from '../records/asset-scope.store';

const SIZE = 1_000;
const FIELDS = { contentType: 'text/plain', filePath: 'a.txt', tags: [], labels: null, expiresInSeconds: null };

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

const storedBytes = async (): Promise<number> =>
  Number((await world.database.models.accountStorage.findUnique({ where: { accountId } }))?.storedBytes ?? 0);
const daysBytes = async (): Promise<number> => {
  const days = await world.database.models.uploadDay.findMany({ where: { accountId } });
  return days.reduce((sum, { sizeBytes }) => sum + Number(sizeBytes), 0);
};

describe('where PostgreSQL undoes a transaction so that others go on', () => {
  it.each([
    ['storage_reservations', '40P01'],
    ['blobs', '40001'],
    ['upload_days', '40P01'],
    ['idempotency_keys', '40001'],
  ] as const)('an upload becomes an asset all the same, and counts once: %s, %s', async (table, sqlstate) => {
    const idempotency = { key: randomUUID(), lifetimeSeconds: 60 };
    const written = await undoNext(world.database, table, sqlstate);
    const { asset, createdNew } = await here.upload(accountId, randomBytes(SIZE), {}, { idempotency });
    expect(await written()).toBeGreaterThan(1);
    expect(createdNew).toBe(true);
    expect(await here.assets.get(wholeAccount(accountId), asset.id)).toEqual(asset);
    expect([await storedBytes(), await daysBytes()]).toEqual([SIZE, SIZE]);
    expect(await world.database.models.storageReservation.count({ where: { accountId } })).toBe(0);
  });

  it('an upload in parts begins all the same', async () => {
    const written = await undoNext(world.database, 'resumable_uploads');
    const terms = { uploadBytesPerDay: null, storageBytes: null };
    const { id } = await here.resumable.begin(accountId, SIZE, { ...FIELDS, expectedHash: null }, terms);
    expect(await written()).toBe(2);
    expect(await here.resumable.listOf(accountId, null, 10)).toMatchObject([{ id }]);
    expect(await world.database.models.storageReservation.count({ where: { accountId } })).toBe(1);
  });

  it('an asset is removed all the same', async () => {
    const { asset } = await here.upload(accountId, randomBytes(SIZE));
    const written = await undoNext(world.database, 'assets');
    await here.assets.remove(wholeAccount(accountId), asset.id);
    expect(await written()).toBe(2);
    expect(await world.blobs(accountId)).toEqual([{ hash: asset.blob.hash, state: 'orphaned', assets: 0 }]);
  });
});

describe('where the connection to PostgreSQL is lost at a commit', () => {
  const terms = { uploadBytesPerDay: null, storageBytes: 1.5 * SIZE };
  const begin = (): Promise<{ id: string }> =>
    here.resumable.begin(accountId, SIZE, { ...FIELDS, expectedHash: null }, terms);
  const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  const open = (): ReturnType<typeof here.resumable.listOf> => here.resumable.listOf(accountId, null, 10);

  it.each([0, 1])('an upload in parts that was recorded has begun, also where %i looks for it fail', async (looks) => {
    const transaction = world.database.transaction.bind(world.database);
    const lost = jest.spyOn(world.database, 'transaction').mockImplementationOnce(async (...given) => {
      await transaction(...given);
      for (let look = 0; look <= looks; look += 1) jest.spyOn(world.database, 'rows').mockRejectedValueOnce(reset);
      throw reset;
    });
    const { id } = await begin();
    lost.mockRestore();
    jest.spyOn(world.database, 'rows').mockRestore();
    expect(await open()).toMatchObject([{ id }]);
    const bytes = randomBytes(SIZE);
    await here.resumable.receive(accountId, id, 1, Readable.from([bytes]));
    const { asset } = await here.resumable.complete(wholeAccount(accountId), id, { uploadBytesPerDay: null });
    expect(asset.blob.sizeBytes).toBe(SIZE);
  });

  it('an upload in parts that was not recorded holds no room', async () => {
    const lost = jest.spyOn(world.database, 'transaction').mockRejectedValueOnce(reset);
    await expect(begin()).rejects.toBe(reset);
    lost.mockRestore();
    expect(await open()).toEqual([]);
    expect(await begin()).toMatchObject({ id: expect.any(String) as string });
  });

  it('an upload in one request that was refused by that holds no room', async () => {
    const transaction = world.database.transaction.bind(world.database);
    const lost = jest.spyOn(world.database, 'transaction').mockImplementationOnce(async (...given) => {
      await transaction(...given);
      throw reset;
    });
    await expect(here.upload(accountId, randomBytes(SIZE))).rejects.toBe(reset);
    lost.mockRestore();
    expect(await world.database.models.storageReservation.count({ where: { accountId } })).toBe(0);
  });

  it('its error is said, not that of a store that does not drop the parts', async () => {
    const lost = jest.spyOn(world.store.parts, 'abort').mockRejectedValueOnce(new Error('the store is away'));
    const full = here.resumable.begin(accountId, 2 * SIZE, { ...FIELDS, expectedHash: null }, terms);
    await expect(full).rejects.toMatchObject({ code: 'storage_full' });
    expect(lost).toHaveBeenCalledTimes(1);
    lost.mockRestore();
  });
});
