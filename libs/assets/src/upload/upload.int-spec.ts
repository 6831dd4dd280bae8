import { randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { makeAccount, onOneDay } from '@millrace/testing';
import { BlobRecordStore } from '../records/blob-record.store';
import { MAX_UPLOAD_BYTES, createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import { dropStaged } from '../fixtures/drop-staged';
import { wholeAccount } from '../records/asset-scope.store';

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

const bytes = (): Buffer => randomBytes(1_000);
const assetCount = (): Promise<number> => world.database.models.asset.count({ where: { accountId } });
const fields = { filePath: 'a.txt', tags: [], expiresInSeconds: null };
const code = (expected: string): unknown => expect.objectContaining({ name: 'Refusal', code: expected });

describe('an upload', () => {
  it('of new bytes becomes an asset that reads back as it was sent', async () => {
    const sent = bytes();
    const fields = { contentType: 'text/plain; charset=utf-8', filePath: 'notes/a.txt', tags: ['x', 'y'] };
    const { asset, createdNew } = await here.upload(accountId, sent, fields);
    expect(createdNew).toBe(true);
    expect(asset).toMatchObject({ ...fields, accountId, jobId: null, expiresAt: null, blob: { sizeBytes: 1_000 } });
    expect(await here.assets.get(wholeAccount(accountId), asset.id)).toEqual(asset);
    expect(await here.read(asset)).toEqual(sent);
  });

  it('of the same bytes, called the same, is the same asset', async () => {
    const sent = bytes();
    const first = await here.upload(accountId, sent, { tags: ['x', 'y'] });
    const second = await here.upload(accountId, sent, { tags: ['y', 'x'] });
    expect(second).toEqual({ asset: first.asset, createdNew: false });
    expect(await assetCount()).toBe(1);
  });

  it.each([{ filePath: 'b.txt' }, { tags: ['new'] }, { contentType: 'text/markdown' }])(
    'of the same bytes, called otherwise (%j), is another asset over the same blob',
    async (fields) => {
      const sent = bytes();
      const first = await here.upload(accountId, sent);
      const second = await here.upload(accountId, sent, fields);
      expect(second.createdNew).toBe(false);
      expect(second.asset.id).not.toBe(first.asset.id);
      expect(second.asset.blob).toEqual(first.asset.blob);
      expect(await world.blobs(accountId)).toEqual([{ hash: first.asset.blob.hash, state: 'live', assets: 2 }]);
    },
  );

  it('lets the asset that it finds live longer, never shorter', async () => {
    const sent = bytes();
    const expiry = async (expiresInSeconds: number | null): Promise<number | null> => {
      const { asset } = await here.upload(accountId, sent, { expiresInSeconds });
      return asset.expiresAt && Math.round((asset.expiresAt.getTime() - Date.now()) / 1000 / 60);
    };
    expect(await expiry(3_600)).toBe(60);
    expect(await expiry(600)).toBe(60);
    expect(await expiry(7_200)).toBe(120);
    expect(await expiry(null)).toBeNull();
    expect(await expiry(60)).toBeNull();
    expect(await assetCount()).toBe(1);
  });

  it('that names no time is kept as long as the platform keeps uploads', async () => {
    const keeping = world.process(world.store, { assetRetentionSeconds: 86_400 });
    const { asset } = await keeping.upload(accountId, bytes());
    const seconds = ((asset.expiresAt?.getTime() ?? 0) - asset.createdAt.getTime()) / 1000;
    expect(seconds).toBeCloseTo(86_400, 0);
  });

  it('whose hash is not the expected one leaves nothing behind', async () => {
    const refused = here.upload(accountId, bytes(), { expectedHash: `blake3:${'0'.repeat(64)}` });
    await expect(refused).rejects.toEqual(code('hash_mismatch'));
    expect(await world.blobs(accountId)).toEqual([]);
    expect(await dropStaged(world.store)).toBe(0);
  });

  it('whose hash is the expected one is taken', async () => {
    const sent = bytes();
    const { asset } = await here.upload(accountId, sent);
    const again = await here.upload(accountId, sent, { expectedHash: asset.blob.hash });
    expect(again.asset.id).toBe(asset.id);
  });

  it('of too many bytes is refused', async () => {
    await expect(here.upload(accountId, randomBytes(MAX_UPLOAD_BYTES + 1))).rejects.toEqual(code('payload_too_large'));
    expect(await world.blobs(accountId)).toEqual([]);
  });

  it('is another in another account: neither learns of the other', async () => {
    const sent = bytes();
    const { asset } = await here.upload(accountId, sent);
    const other = await makeAccount(world.database);
    expect(await here.uploads.hasBlob(wholeAccount(other), asset.blob.hash)).toBe(false);
    await expect(here.uploads.fromHash(wholeAccount(other), asset.blob.hash, fields)).rejects.toEqual(
      code('blob_not_found'),
    );
    await expect(here.assets.get(wholeAccount(other), asset.id)).rejects.toEqual(code('not_found'));
    const theirs = await here.upload(other, sent);
    expect(theirs.createdNew).toBe(true);
    await here.assets.remove(wholeAccount(accountId), asset.id);
    await world.passGrace(accountId);
    await here.runLoop('sweep-blobs');
    expect(await here.read(theirs.asset)).toEqual(sent);
  });

  it('is new exactly once, and one asset, however many of it arrive at once', async () => {
    const sent = bytes();
    const minted = await Promise.all(Array.from({ length: 20 }, () => here.upload(accountId, sent)));
    expect(minted.filter(({ createdNew }) => createdNew)).toHaveLength(1);
    expect(new Set(minted.map(({ asset }) => asset.id)).size).toBe(1);
    expect(await world.blobs(accountId)).toEqual([expect.objectContaining({ state: 'live', assets: 1 })]);
    expect(await here.audit.run(true)).toEqual({
      checkedBlobs: expect.any(Number) as number,
      isOwnStore: true,
      strayKeys: [],
      lostBlobs: [],
      corruptBlobs: [],
    });
  });

  it('whose client goes away leaves nothing behind, however early that is', async () => {
    const source = new Readable({ read: () => undefined });
    const staging = here.uploads.stage(accountId, source, { uploadBytesPerDay: 1_000 });
    source.destroy(new Error('the client went away'));
    await expect(staging).rejects.toThrow('the client went away');
    expect(await dropStaged(world.store)).toBe(0);
  });

  it('brings back bytes that the store has lost', async () => {
    const sent = bytes();
    const { asset } = await here.upload(accountId, sent);
    for await (const { key } of world.store.list()) if (key.includes(accountId)) await world.store.delete(key);
    expect((await here.audit.run(false)).lostBlobs).toEqual([expect.objectContaining({ hash: asset.blob.hash })]);
    await here.upload(accountId, sent);
    expect(await here.read(asset)).toEqual(sent);
  });
});

describe('an Idempotency-Key', () => {
  const once = (key: string): { idempotency: { key: string; lifetimeSeconds: number } } => ({
    idempotency: { key, lifetimeSeconds: 86_400 },
  });

  it('is good for one upload; a second one is refused with any bytes', async () => {
    const key = randomUUID();
    await here.upload(accountId, bytes(), {}, once(key));
    await expect(here.upload(accountId, bytes(), {}, once(key))).rejects.toEqual(code('idempotency_key_reuse'));
    expect(await assetCount()).toBe(1);
  });

  it('is good for one of many that arrive at once', async () => {
    const key = randomUUID();
    const all = await Promise.allSettled(
      Array.from({ length: 8 }, () => here.upload(accountId, bytes(), {}, once(key))),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await assetCount()).toBe(1);
  });

  it('is free again after an upload that failed', async () => {
    const key = randomUUID();
    const wrong = { expectedHash: `blake3:${'0'.repeat(64)}` };
    await expect(here.upload(accountId, bytes(), wrong, once(key))).rejects.toEqual(code('hash_mismatch'));
    const small = { ...once(key), uploadBytesPerDay: 999 };
    await expect(here.upload(accountId, bytes(), {}, small)).rejects.toEqual(code('rate_limited'));
    expect((await here.upload(accountId, bytes(), {}, once(key))).createdNew).toBe(true);
  });
});

describe("an account's bytes of a day", () => {
  beforeEach(() => onOneDay());

  it('are counted, and the upload that would be too many is refused until the day is over', async () => {
    const limited = { uploadBytesPerDay: 2_500 };
    await here.upload(accountId, bytes(), {}, limited);
    await here.upload(accountId, bytes(), {}, limited);
    const secondsLeft = (): number => Math.ceil((new Date().setUTCHours(24, 0, 0, 0) - Date.now()) / 1000);
    const most = secondsLeft();
    const refused = await here.upload(accountId, bytes(), {}, limited).catch((error: unknown) => error);
    expect(refused).toEqual(code('rate_limited'));
    const { retryAfterSeconds } = refused as { retryAfterSeconds: number };
    expect(retryAfterSeconds).toBeLessThanOrEqual(most);
    expect(retryAfterSeconds).toBeGreaterThanOrEqual(secondsLeft());
    expect(await assetCount()).toBe(2);
  });

  it('when used up, refuse the next upload before it is read', async () => {
    await here.upload(accountId, bytes(), {}, { uploadBytesPerDay: 1_000 });
    const source = Readable.from([bytes()]);
    await expect(here.uploads.stage(accountId, source, { uploadBytesPerDay: 1_000 })).rejects.toEqual(
      code('rate_limited'),
    );
    expect(source.destroyed).toBe(true);
  });

  it('are forgotten after some weeks', async () => {
    const day = (daysAgo: number): Date => new Date(Date.now() - daysAgo * 86_400_000);
    const days = [day(0), day(30), day(50)].map((at) => ({ accountId, day: at, sizeBytes: 1n }));
    await world.database.models.uploadDay.createMany({ data: days });
    expect(await here.runLoop('sweep-upload-days')).toBe(1);
    expect(await world.database.models.uploadDay.count({ where: { accountId } })).toBe(2);
  });
});

describe('a mint from a hash', () => {
  it('makes a reference, then finds it, and calls the bytes what they were called', async () => {
    const { asset } = await here.upload(accountId, bytes(), { contentType: 'text/markdown' });
    const named = { ...fields, filePath: 'copy.md', tags: ['copy'] };
    const made = await here.uploads.fromHash(wholeAccount(accountId), asset.blob.hash, named);
    expect(made).toMatchObject({ isNew: true, asset: { contentType: 'text/markdown', filePath: 'copy.md' } });
    const found = await here.uploads.fromHash(wholeAccount(accountId), asset.blob.hash, named);
    expect(found).toEqual({ asset: made.asset, isNew: false });
  });

  it('lets the reference that it finds live longer, never shorter', async () => {
    const { asset } = await here.upload(accountId, bytes(), { expiresInSeconds: 3_600 });
    const { hash } = asset.blob;
    const shorter = await here.uploads.fromHash(wholeAccount(accountId), hash, { ...fields, expiresInSeconds: 60 });
    expect(shorter.asset).toEqual(asset);
    const longer = await here.uploads.fromHash(wholeAccount(accountId), hash, { ...fields, expiresInSeconds: 7_200 });
    expect(longer.asset.id).toBe(asset.id);
    expect(longer.asset.expiresAt?.getTime()).toBeGreaterThan((asset.expiresAt?.getTime() ?? 0) + 3_000_000);
  });

  it('finds bytes whose last asset went, and knows by them what they are', async () => {
    const { asset } = await here.upload(accountId, Buffer.from('GIF89a, or so it says'), { contentType: 'image/gif' });
    await here.assets.remove(wholeAccount(accountId), asset.id);
    expect(await here.uploads.hasBlob(wholeAccount(accountId), asset.blob.hash)).toBe(true);
    const made = await here.uploads.fromHash(wholeAccount(accountId), asset.blob.hash, { ...fields, filePath: null });
    expect(made).toMatchObject({ isNew: true, asset: { contentType: 'image/gif', filePath: null } });
  });

  it('never uses an output of a job as the reference, for it goes with the job', async () => {
    const jobId = await world.jobFor(accountId);
    const output = await here.assets.storeOutput(accountId, Readable.from([bytes()]), { name: 'a.txt' });
    const id = await world.mintOutput(jobId, { ...output, name: 'a.txt' });
    const made = await here.uploads.fromHash(wholeAccount(accountId), output.blob.hash, fields);
    expect(made).toMatchObject({ isNew: true, asset: { jobId: null, expiresAt: null } });
    expect(made.asset.id).not.toBe(id);
  });

  it('finds nothing where there never was anything, or where the bytes never arrived', async () => {
    const hash = `blake3:${randomBytes(32).toString('hex')}`;
    await expect(here.uploads.fromHash(wholeAccount(accountId), hash, fields)).rejects.toEqual(code('blob_not_found'));
    await new BlobRecordStore().announce(world.database, accountId, hash, 5_000_000_000);
    expect(await here.uploads.hasBlob(wholeAccount(accountId), hash)).toBe(false);
    await expect(here.uploads.fromHash(wholeAccount(accountId), hash, fields)).rejects.toEqual(code('blob_not_found'));
  });
});
