import { randomBytes, randomUUID } from 'node:crypto';
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
