import { randomBytes } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { makeAccount } from '@millrace/testing';
import { createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import type { BlobStore } from '../store/blob-store';

const STAGING_BYTES = 1_000;
const options = { uploadBytesPerDay: null };

let world: AssetWorld;
let here: AssetProcess;
beforeAll(async () => {
  world = await createAssetWorld();
  /** The folder, as if it kept as much of each upload in memory. */
  const store = Object.create(world.store, { stagingBytes: { value: STAGING_BYTES } }) as BlobStore;
  here = world.process(store, { uploadBytesInMemory: 6 * STAGING_BYTES });
});
afterAll(() => world.drop());

describe('uploads under way', () => {
  it('are limited by the memory that they take, until each is committed, discarded or broken', async () => {
    const accountId = await makeAccount(world.database);
    const stalled = new PassThrough();
    const broken = here.uploads.stage(accountId, stalled, options);
    const done = await here.uploads.stage(accountId, Readable.from([randomBytes(10)]), options);
    const one = (): Promise<{ discard(): Promise<void> }> =>
      here.uploads.stage(accountId, Readable.from([randomBytes(10)]), options);
    await expect(one()).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 5 });
    await done.discard();
    const next = await one();
    stalled.destroy(new Error('it broke'));
    await expect(broken).rejects.toThrow('it broke');
    for (const staged of [await one(), next]) await staged.discard();
  });

  it('count with their size where that is declared and small', async () => {
    const accountId = await makeAccount(world.database);
    const small = { ...options, declaredBytes: 10 };
    const all = Array.from({ length: 20 }, () =>
      here.uploads.stage(accountId, Readable.from([randomBytes(10)]), small),
    );
    for (const staged of await Promise.all(all)) await staged.discard();
  });
});
