import { randomBytes } from 'node:crypto';
import { PassThrough, Readable } from 'node:stream';
import { eventually, makeAccount } from '@millrace/testing';
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
    stalled.write(randomBytes(STAGING_BYTES));
    await eventually('it has arrived', () => stalled.readableLength === 0);
    const done = await here.uploads.stage(accountId, Readable.from([randomBytes(STAGING_BYTES)]), options);
    const one = (): Promise<{ discard(): Promise<void> }> =>
      here.uploads.stage(accountId, Readable.from([randomBytes(10)]), options);
    await expect(one()).rejects.toMatchObject({ code: 'rate_limited', retryAfterSeconds: 5 });
    await done.discard();
    const next = await one();
    stalled.destroy(new Error('it broke'));
    await expect(broken).rejects.toThrow('it broke');
    for (const staged of [await one(), next]) await staged.discard();
  });

  it('count with what has arrived, whether a size is declared or not', async () => {
    const accountId = await makeAccount(world.database);
    for (const declaredBytes of [10, null]) {
      const all = Array.from({ length: 20 }, () =>
        here.uploads.stage(accountId, Readable.from([randomBytes(10)]), { ...options, declaredBytes }),
      );
      for (const staged of await Promise.all(all)) await staged.discard();
    }
  });
});
