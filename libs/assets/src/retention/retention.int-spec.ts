import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { besideTransaction } from '@millrace/database';
import type { Finding } from '@millrace/platform';
import { createTestFolder, makeAccount } from '@millrace/testing';
import type { AssetRecord, MintedAsset } from '../records/asset';
import { createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import { FaultyBlobStore, type Point } from '../fixtures/faulty-blob-store';
import { dropStaged } from '../fixtures/drop-staged';
import { StorageAuditor } from './storage-auditor';
import { FsBlobStore } from '../store/fs/fs.blob-store';
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

const sound = { strayKeys: [], lostBlobs: [], corruptBlobs: [] };
const orphan = async (bytes: Buffer = randomBytes(100)): Promise<AssetRecord> => {
  const { asset } = await here.upload(accountId, bytes);
  await here.assets.remove(wholeAccount(accountId), asset.id);
  return asset;
};
const keysHere = async (): Promise<string[]> => {
  const keys: string[] = [];
  for await (const { key } of world.store.list()) if (key.startsWith(accountId)) keys.push(key);
  return keys;
};
const removedStrays = async (process = here): Promise<string[]> => {
  const keys: string[] = [];
  for await (const key of process.audit.removeStrays()) if (key.startsWith(accountId)) keys.push(key);
  return keys;
};
const placeStray = async (process = here): Promise<string> => {
  const key = `${accountId}/no/blob`;
  const staged = await process.uploads.stage(accountId, Readable.from([randomBytes(100)]), { uploadBytesPerDay: null });
  await staged.place(key);
  return key;
};

describe('expiry', () => {
  it('removes what is past its time, keeps the rest, and orphans the bytes that nothing else refers to', async () => {
    const shared = randomBytes(100);
    const gone = (await here.upload(accountId, shared, { filePath: 'gone' })).asset;
    const kept = (await here.upload(accountId, shared, { filePath: 'kept', expiresInSeconds: 600 })).asset;
    const alone = (await here.upload(accountId, randomBytes(100))).asset;
    await world.letExpire([gone.id, alone.id]);
    expect(await here.runLoop('expire-assets')).toBe(2);
    expect(await here.read(kept)).toEqual(shared);
    const blobs = await world.blobs(accountId);
    expect(blobs).toHaveLength(2);
    expect(blobs).toContainEqual({ hash: kept.blob.hash, state: 'live', assets: 1 });
    expect(blobs).toContainEqual({ hash: alone.blob.hash, state: 'orphaned', assets: 0 });
  });

  it('waits for the job that reads it', async () => {
    const { asset } = await here.upload(accountId, randomBytes(100));
    const jobId = await world.jobReading(asset);
    await world.letExpire([asset.id]);
    expect(await here.runLoop('expire-assets')).toBe(0);
    await world.dropJob(jobId);
    expect(await here.runLoop('expire-assets')).toBe(1);
  });

  it('passes by an asset that a job is just taking', async () => {
    const { asset } = await here.upload(accountId, randomBytes(100));
    const jobId = await world.jobFor(accountId);
    await world.letExpire([asset.id]);
    await world.database.transaction(async (tx) => {
      await tx.models.jobInput.create({ data: { jobId, assetId: asset.id } });
      expect(await besideTransaction(() => here.runLoop('expire-assets'))).toBe(0);
    });
    expect(await here.runLoop('expire-assets')).toBe(0);
    expect(await world.blobs(accountId)).toEqual([expect.objectContaining({ state: 'live', assets: 1 })]);
  });

  it('of many assets takes several runs', async () => {
    const ids = [];
    for (let at = 0; at < 250; at++) ids.push((await here.upload(accountId, Buffer.from([at]))).asset.id);
    await world.letExpire(ids);
    expect(await here.runLoop('expire-assets')).toBe(250);
  });
});

describe('the sweep', () => {
  it('leaves orphans alone for the grace, and then removes bytes and record', async () => {
    await orphan();
    expect(await here.runLoop('sweep-blobs')).toBe(0);
    await world.passGrace(accountId);
    expect(await here.runLoop('sweep-blobs')).toBe(1);
    expect(await world.blobs(accountId)).toEqual([]);
    expect(await keysHere()).toEqual([]);
  });

  it('spares bytes that were asked for by their hash, so that the mint that follows finds them', async () => {
    const { blob } = await orphan();
    await world.passGrace(accountId);
    expect(await here.uploads.hasBlob(wholeAccount(accountId), blob.hash)).toBe(true);
    expect(await here.runLoop('sweep-blobs')).toBe(0);
    const fields = { filePath: 'again', tags: [], expiresInSeconds: null };
    const { asset } = await here.uploads.fromHash(wholeAccount(accountId), blob.hash, fields);
    expect(await here.read(asset)).toHaveLength(100);
  });

  it('goes on with the others when the store fails at one, and comes back to that one', async () => {
    for (let count = 0; count < 3; count++) await orphan();
    await world.passGrace(accountId);
    const failing = new FaultyBlobStore(world.store);
    const remove = jest.spyOn(failing, 'delete').mockRejectedValueOnce(new Error('the store is away'));
    expect(await world.process(failing).runLoop('sweep-blobs')).toBe(2);
    expect(remove).toHaveBeenCalledTimes(3);
    expect(await world.blobs(accountId)).toEqual([expect.objectContaining({ state: 'condemned' })]);
    expect(await here.runLoop('sweep-blobs')).toBe(1);
    expect(await keysHere()).toEqual([]);
  });
});

describe('a process that dies', () => {
  const points: [Point, 'uploads' | 'sweeps'][] = [
    ['before stage', 'uploads'],
    ['after stage', 'uploads'],
    ['before place', 'uploads'],
    ['after place', 'uploads'],
    ['before delete', 'sweeps'],
    ['after delete', 'sweeps'],
  ];

  it.each(points)('%s while it %s leaves nothing that stays', async (point, work) => {
    const bytes = randomBytes(100);
    await dieAt(point, work, bytes);
    await world.passGrace(accountId);
    await here.runLoop('sweep-blobs');
    await dropStaged(world.store);
    expect(await world.blobs(accountId)).toEqual([]);
    expect(await keysHere()).toEqual([]);
    expect(await here.audit.run(true)).toMatchObject(sound);
  });

  it.each(points)('%s while it %s does not keep the same bytes from being uploaded', async (point, work) => {
    const bytes = randomBytes(100);
    await dieAt(point, work, bytes);
    const { asset, createdNew } = await here.upload(accountId, bytes);
    expect(createdNew).toBe(true);
    expect(await here.read(asset)).toEqual(bytes);
    await world.passGrace(accountId);
    await here.runLoop('sweep-blobs');
    expect(await here.read(asset)).toEqual(bytes);
    expect(await keysHere()).toHaveLength(1);
    expect(await here.audit.run(true)).toMatchObject(sound);
  });

  async function dieAt(point: Point, work: 'uploads' | 'sweeps', bytes: Buffer): Promise<void> {
    const store = new FaultyBlobStore(world.store);
    const dying = world.process(store);
    if (work === 'sweeps') {
      await orphan(bytes);
      await world.passGrace(accountId);
    }
    const died = store.dieAt(point);
    const last = work === 'uploads' ? dying.upload(accountId, bytes) : dying.runLoop('sweep-blobs');
    await expect(last).rejects.toThrow('the process is dead');
    expect(died()).toBe(true);
  }
});

describe('a process that freezes', () => {
  it('in its sweep and wakes when the bytes were uploaded again does them no harm', async () => {
    const bytes = randomBytes(100);
    await orphan(bytes);
    await world.passGrace(accountId);
    const store = new FaultyBlobStore(world.store);
    const frozen = store.freezeAt('before delete');
    const sweeping = world.process(store).runLoop('sweep-blobs');
    const wake = await frozen;
    const { asset } = await here.upload(accountId, bytes);
    wake();
    await sweeping;
    expect(await here.read(asset)).toEqual(bytes);
    expect(await here.audit.run(true)).toMatchObject(sound);
  });

  it('in its sweep prevents a mint from the bytes that it is about to delete', async () => {
    const jobId = await world.jobFor(accountId);
    const output = await here.assets.storeOutput(accountId, Readable.from([randomBytes(100)]), { name: 'a' });
    const slowStore = new FaultyBlobStore(world.store);
    const slow = slowStore.freezeAt('after place');
    const uploading = world.process(slowStore).upload(accountId, randomBytes(100));
    const goOn = await slow;
    await world.passGrace(accountId);
    const store = new FaultyBlobStore(world.store);
    const frozen = store.freezeAt('before delete');
    const sweeping = world.process(store).runLoop('sweep-blobs');
    const wake = await frozen;
    expect(await world.mintOutput(jobId, { ...output, name: 'a' })).toBeNull();
    goOn();
    await expect(uploading).rejects.toMatchObject({ name: 'BlobStoreError', fault: 'missing' });
    expect(await here.uploads.hasBlob(wholeAccount(accountId), output.blob.hash)).toBe(false);
    wake();
    await sweeping;
    expect(await world.blobs(accountId)).toEqual([]);
    expect(await keysHere()).toEqual([]);
  });

  it('in its sweep while another finishes it harms no later life of the same bytes', async () => {
    const bytes = randomBytes(100);
    await orphan(bytes);
    await world.passGrace(accountId);
    const store = new FaultyBlobStore(world.store);
    const frozen = store.freezeAt('after delete');
    const sweeping = world.process(store).runLoop('sweep-blobs');
    const wake = await frozen;
    expect(await here.runLoop('sweep-blobs')).toBe(1);
    await orphan(bytes);
    await world.passGrace(accountId);
    const dying = new FaultyBlobStore(world.store);
    dying.dieAt('before delete');
    await expect(world.process(dying).runLoop('sweep-blobs')).rejects.toThrow('the process is dead');
    wake();
    await sweeping;
    // It went on to find the second life condemned, with its bytes still there, and ended that too.
    expect(await world.blobs(accountId)).toEqual([]);
    expect(await keysHere()).toEqual([]);
    const { asset } = await here.upload(accountId, bytes);
    expect(await here.read(asset)).toEqual(bytes);
  });

  it('in an upload for longer than the grace mints nothing without bytes; what it left is found and removed', async () => {
    const bytes = randomBytes(100);
    const store = new FaultyBlobStore(world.store);
    const frozen = store.freezeAt('before place');
    const uploading = world.process(store).upload(accountId, bytes);
    const wake = await frozen;
    await world.passGrace(accountId);
    expect(await here.runLoop('sweep-blobs')).toBe(1);
    wake();
    await expect(uploading).rejects.toMatchObject({ name: 'BlobStoreError', fault: 'missing' });
    const { strayKeys } = await here.audit.run(false);
    expect(strayKeys).toEqual(await keysHere());
    expect(strayKeys).toHaveLength(1);
    const { asset } = await here.upload(accountId, bytes);
    expect(await removedStrays()).toEqual(strayKeys);
    expect(await here.read(asset)).toEqual(bytes);
    expect(await here.audit.run(true)).toMatchObject(sound);
  });
});

describe('the audit', () => {
  it('finds bytes that no record names, records whose bytes are gone, and bytes that have changed', async () => {
    const [lost, corrupt] = [
      await here.upload(accountId, randomBytes(100)),
      await here.upload(accountId, randomBytes(100)),
    ];
    const keys = await keysHere();
    const keyOf = ({ asset }: MintedAsset): string => {
      const key = keys.find((one) => one.includes(asset.blob.hash.slice('blake3:'.length)));
      if (key === undefined) throw new Error('an asset has no bytes');
      return key;
    };
    await world.store.delete(keyOf(lost));
    const other = await here.uploads.stage(accountId, Readable.from([randomBytes(100)]), { uploadBytesPerDay: null });
    await other.place(keyOf(corrupt));
    const stray = await placeStray();
    expect(await here.audit.run(true)).toEqual({
      checkedBlobs: expect.any(Number) as number,
      isOwnStore: true,
      strayKeys: [stray],
      lostBlobs: [expect.objectContaining({ hash: lost.asset.blob.hash })],
      corruptBlobs: [expect.objectContaining({ hash: corrupt.asset.blob.hash })],
    });
  });

  it('removes objects that no record names, and nothing that one does, not even of a blob that waits for its sweep', async () => {
    const { asset } = await here.upload(accountId, randomBytes(100));
    await orphan(randomBytes(100));
    const named = await keysHere();
    const stray = await placeStray();
    expect(await removedStrays()).toEqual([stray]);
    expect(await keysHere()).toEqual(named);
    expect(await here.read(asset)).toHaveLength(100);
  });

  it('in a store that has no bytes of its database notes nothing, and says so', async () => {
    const folder = await createTestFolder();
    const { asset } = await here.upload(accountId, randomBytes(100));
    const { isOwnStore, lostBlobs } = await world.process(new FsBlobStore(folder.path)).audit.run(true);
    expect(isOwnStore).toBe(false);
    expect(lostBlobs.map(({ hash }) => hash)).toContain(asset.blob.hash);
    const { audit } = world.process(new FsBlobStore(folder.path));
    const findings: Finding[] = [];
    for await (const finding of new StorageAuditor(audit, false).findings()) findings.push(finding);
    expect(findings[0]).toMatchObject({
      check: 'store-is-its-own',
      detail: expect.stringContaining('S3_BUCKET') as string,
    });
    const blobs = await world.database.models.blob.findMany({ where: { accountId } });
    expect(blobs.map(({ lostAt }) => lostAt)).toEqual([null]);
    expect(await here.audit.run(true)).toMatchObject({ isOwnStore: true });
    await folder.drop();
  });

  it('removes nothing from a store that has no bytes of its database', async () => {
    const folder = await createTestFolder();
    const other = new FsBlobStore(folder.path);
    const { asset } = await here.upload(accountId, randomBytes(100));
    const stray = await placeStray(world.process(other));
    await expect(removedStrays(world.process(other))).rejects.toThrow(/look at DATABASE_URL/);
    expect(await other.stat(stray)).not.toBeNull();
    expect(await here.read(asset)).toHaveLength(100);
    await folder.drop();
  });
});
