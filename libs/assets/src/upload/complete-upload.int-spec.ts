import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { Prisma } from '@prisma/client';
import { makeAccount } from '@millrace/testing';
import { composeAssets } from '../composition';
import { ASSET_WORLD_SETTINGS, createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import { createTestBucket } from '../fixtures/test-bucket';
import { TRIPS, Tripwire, type Trip } from '../fixtures/tripwire';
import type { BlobStore } from '../store';
import { S3BlobStore } from '../store/s3/s3.blob-store';
import { dropStaged } from '../fixtures/drop-staged';
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
/** More calls than completing an upload makes. */
const MOST_CALLS = 40;

let world: AssetWorld;
let accountId: string;
const stores: Record<'folder' | 'bucket', () => BlobStore> = { folder: () => world.store, bucket: () => bucket };
let bucket: BlobStore;
beforeAll(async () => {
  world = await createAssetWorld();
  bucket = new S3BlobStore(await createTestBucket());
});
afterAll(async () => {
  bucket.close();
  await world.drop();
});
beforeEach(async () => {
  accountId = await makeAccount(world.database);
});

const code = (expected: string): unknown => expect.objectContaining({ name: 'Refusal', code: expected });
const letHoldsEnd = (): Promise<number> =>
  world.database.execute(Prisma.sql`UPDATE resumable_uploads SET held_until = now() - interval '1 second'`);

async function sent(process: AssetProcess, bytes: Buffer, expectedHash: string | null = null): Promise<string> {
  const { id } = await process.resumable.begin(accountId, bytes.length, { ...fields, expectedHash }, noLimit);
  await process.resumable.receive(accountId, id, 1, Readable.from([bytes]));
  return id;
}

/** Complete an upload with one failing call. @returns false when it made fewer calls than that. */
async function completeBroken(store: BlobStore, id: string, at: number, trip: Trip): Promise<boolean> {
  const wire = new Tripwire(at, trip);
  const parts = { database: wire.wrap(world.database), store: wire.wrap(store), settings: ASSET_WORLD_SETTINGS };
  await composeAssets(parts)
    .resumable.complete(wholeAccount(accountId), id, noLimit)
    .catch((error: unknown) => {
      if (!(error instanceof Error) || !error.message.includes('Connection terminated')) throw error;
    });
  return wire.tripped;
}

describe.each(['folder', 'bucket'] as const)('completing an upload in a %s', (kind) => {
  it.each(TRIPS)(
    'survives one failing call, wherever it is (%s): completing again gives its one asset',
    async (trip) => {
      const here = world.process(stores[kind]());
      let at = 1;
      for (; at < MOST_CALLS; at += 1) {
        accountId = await makeAccount(world.database);
        const bytes = randomBytes(1_000);
        const id = await sent(here, bytes);
        if (!(await completeBroken(stores[kind](), id, at, trip))) break;
        await letHoldsEnd();
        const { asset } = await here.resumable.complete(wholeAccount(accountId), id, noLimit);
        expect((await here.read(asset)).equals(bytes)).toBe(true);
        expect((await here.resumable.complete(wholeAccount(accountId), id, noLimit)).asset.id).toBe(asset.id);
        expect(await world.database.models.asset.count({ where: { accountId } })).toBe(1);
        expect(await world.blobs(accountId)).toEqual([expect.objectContaining({ state: 'live', assets: 1 })]);
      }
      expect(at).toBeGreaterThan(8);
      expect(at).toBeLessThan(MOST_CALLS);
    },
  );

  it('shows all parts as received once they were joined, so that nobody sends them again', async () => {
    const here = world.process(stores[kind]());
    const { id, handle } = await here.resumable.get(wholeAccount(accountId), await sent(here, randomBytes(1_000)));
    await (await stores[kind]().parts.assemble(handle, 1)).release();
    const parts = await here.resumable.partsOf(await here.resumable.get(wholeAccount(accountId), id));
    expect(parts).toEqual([{ number: 1, sizeBytes: 1_000, received: true, link: null }]);
  });

  it('ends the upload when the bytes are not those that were announced, and leaves nothing', async () => {
    const here = world.process(stores[kind]());
    await dropStaged(stores[kind]());
    const id = await sent(here, randomBytes(1_000), `blake3:${'0'.repeat(64)}`);
    await expect(here.resumable.complete(wholeAccount(accountId), id, noLimit)).rejects.toEqual(code('hash_mismatch'));
    await expect(here.resumable.get(wholeAccount(accountId), id)).rejects.toEqual(code('not_found'));
    expect(await dropStaged(stores[kind]())).toBe(0);
  });

  it('keeps the upload when the bytes of the day are used up: it is completed the next day', async () => {
    const here = world.process(stores[kind]());
    const id = await sent(here, randomBytes(1_000));
    const assembled = jest.spyOn(stores[kind]().parts, 'assemble');
    const shared = { accountId: await makeAccount(world.database), bytesPerDay: 999 };
    for (const tooFew of [{ uploadBytesPerDay: 999 }, { ...noLimit, sharedUploads: shared }]) {
      await expect(here.resumable.complete(wholeAccount(accountId), id, tooFew)).rejects.toEqual(code('rate_limited'));
      await expect(here.resumable.begin(accountId, 1_000, fields, tooFew)).rejects.toEqual(code('rate_limited'));
    }
    // Nothing is read that could not be kept.
    expect(assembled).not.toHaveBeenCalled();
    assembled.mockRestore();
    expect((await here.resumable.complete(wholeAccount(accountId), id, noLimit)).createdNew).toBe(true);
  });

  it('is decided by the mint when two requests think that they hold it: one asset, and none for a dropped upload', async () => {
    const here = world.process(stores[kind]());
    const bytes = randomBytes(1_000);
    const id = await sent(here, bytes);
    const mint = async (): Promise<unknown> => {
      const staged = await here.uploads.stage(accountId, Readable.from([bytes]), noLimit);
      return here.uploads.commit(accountId, staged, fields, { ...noLimit, resumableId: id });
    };
    const first = await here.resumable.complete(wholeAccount(accountId), id, noLimit);
    await expect(mint()).rejects.toMatchObject({ reason: 'upload_over' });
    await here.resumable.abort(wholeAccount(accountId), id);
    await expect(mint()).rejects.toMatchObject({ reason: 'upload_over' });
    expect((await here.assets.get(wholeAccount(accountId), first.asset.id)).id).toBe(first.asset.id);
    expect(await world.database.models.asset.count({ where: { accountId } })).toBe(1);
  });
});
