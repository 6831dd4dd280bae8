import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { makeAccount } from '@millrace/testing';
import { createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import { wholeAccount } from './asset-scope.store';
import { BlobDamageStore } from './blob-damage.store';
import type { BlobRef } from './blob';

const marks = new BlobDamageStore();
let world: AssetWorld;
let here: AssetProcess;
let accountId: string;
beforeAll(async () => {
  world = await createAssetWorld();
  here = world.process();
  accountId = await makeAccount(world.database);
});
afterAll(() => world.drop());

const marksOf = async ({ hash }: BlobRef): Promise<{ lostAt: Date | null; damagedAt: Date | null }> => {
  const { lostAt, damagedAt } = await world.database.models.blob.findFirstOrThrow({ where: { accountId, hash } });
  return { lostAt, damagedAt };
};

it('a note is about one life of a blob, and taken back only by who has seen it', async () => {
  const { asset } = await here.upload(accountId, randomBytes(100));
  const later = { ...asset.blob, bornAt: new Date(asset.blob.bornAt.getTime() + 1) };
  expect(await marks.markRotten(world.database, later)).toBeNull();
  const at = await marks.markRotten(world.database, asset.blob);
  // It is known since the first note.
  expect(await marks.markRotten(world.database, asset.blob)).toEqual(at);
  await marks.clearRotten(world.database, asset.blob, new Date(0));
  expect(await marksOf(asset.blob)).toEqual({ lostAt: null, damagedAt: at });
  await marks.clearRotten(world.database, asset.blob, at ?? new Date(0));
  expect(await marksOf(asset.blob)).toEqual({ lostAt: null, damagedAt: null });
});

it('an orphan is not lost: its bytes may be on their way', async () => {
  const { blob } = await here.assets.storeOutput(accountId, Readable.from([randomBytes(100)]), { name: 'a' });
  await marks.markLost(world.database, blob);
  expect(await marksOf(blob)).toEqual({ lostAt: null, damagedAt: null });
});

it('a blob that goes takes its note with it', async () => {
  const bytes = randomBytes(100);
  const { asset } = await here.upload(accountId, bytes);
  await marks.markRotten(world.database, asset.blob);
  await here.assets.remove(wholeAccount(accountId), asset.id);
  await world.passGrace(accountId);
  await here.runLoop('sweep-blobs');
  const again = (await here.upload(accountId, bytes)).asset;
  expect(await marksOf(again.blob)).toEqual({ lostAt: null, damagedAt: null });
});
