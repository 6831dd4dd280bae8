import { makeAccount } from '@millrace/testing';
import { createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import type { AssetRecord } from '../records/asset';

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
