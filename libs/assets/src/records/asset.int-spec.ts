import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { newId } from '@millrace/contracts';
import { makeAccount } from '@millrace/testing';
import type { AssetRecord } from './asset';
import type { StoredOutput } from './asset.service';
import { createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import { wholeAccount } from './asset-scope.store';

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

const code = (expected: string): unknown => expect.objectContaining({ name: 'Refusal', code: expected });
const upload = async (): Promise<AssetRecord> => (await here.upload(accountId, randomBytes(100))).asset;

describe('an asset', () => {
  it.each(['nonsense', '0199aaaa-0000-7000-8000-00000000000', newId()])('is not found as %p', async (id) => {
    await expect(here.assets.get(wholeAccount(accountId), id)).rejects.toEqual(code('not_found'));
    await expect(here.assets.remove(wholeAccount(accountId), id)).rejects.toEqual(code('not_found'));
    await expect(here.content.open(wholeAccount(accountId), id, { method: 'GET' })).rejects.toEqual(code('not_found'));
    await expect(here.content.openInput(accountId, id)).rejects.toEqual(code('not_found'));
  });

  it('is not found once it has expired, even before it is swept', async () => {
    const { id } = await upload();
    await world.letExpire([id]);
    await expect(here.assets.get(wholeAccount(accountId), id)).rejects.toEqual(code('not_found'));
    await expect(here.assets.remove(wholeAccount(accountId), id)).rejects.toEqual(code('not_found'));
    expect(await here.assets.resolveForJob(wholeAccount(accountId), [id])).toEqual(new Set());
  });

  it('is deleted once, and its bytes are then an orphan', async () => {
    const { id, blob } = await upload();
    await here.assets.remove(wholeAccount(accountId), id);
    await expect(here.assets.remove(wholeAccount(accountId), id)).rejects.toEqual(code('not_found'));
    await expect(here.assets.get(wholeAccount(accountId), id)).rejects.toEqual(code('not_found'));
    expect(await world.blobs(accountId)).toEqual([{ hash: blob.hash, state: 'orphaned', assets: 0 }]);
  });

  it('is not deleted by another account', async () => {
    const { id } = await upload();
    await expect(here.assets.remove(wholeAccount(await makeAccount(world.database)), id)).rejects.toEqual(
      code('not_found'),
    );
    expect((await here.assets.get(wholeAccount(accountId), id)).id).toBe(id);
  });

  it('is in use while a job reads it, and no longer', async () => {
    const asset = await upload();
    const jobId = await world.jobReading(asset);
    await expect(here.assets.remove(wholeAccount(accountId), asset.id)).rejects.toEqual(code('asset_in_use'));
    await world.dropJob(jobId);
    await here.assets.remove(wholeAccount(accountId), asset.id);
  });

  it('is in use while a batch that reads it is recorded, and nothing waits for that with a connection', async () => {
    const asset = await upload();
    const jobId = await world.jobFor(accountId);
    const beside = AsyncLocalStorage.snapshot();
    const removed = await world.database.transaction(async (tx) => {
      await tx.models.jobInput.create({ data: { jobId, assetId: asset.id } });
      return beside(async () => {
        const removals = Array.from({ length: 10 }, () => here.assets.remove(wholeAccount(accountId), asset.id));
        const removing = Promise.allSettled(removals);
        expect((await here.assets.get(wholeAccount(accountId), asset.id)).id).toBe(asset.id);
        return removing;
      });
    }, 60_000);
    expect(removed).toEqual(removed.map(() => ({ status: 'rejected', reason: code('asset_in_use') })));
    expect(await here.read(asset)).toHaveLength(100);
  });

  it('that is deleted while it becomes the input of a job is either deleted or in use', async () => {
    for (let round = 0; round < 20; round++) {
      const asset = await upload();
      const [submitted, removed] = await Promise.allSettled([
        world.jobReading(asset),
        here.assets.remove(wholeAccount(accountId), asset.id),
      ]);
      if (submitted.status === 'fulfilled') {
        expect(removed).toMatchObject({ status: 'rejected', reason: code('asset_in_use') });
        expect(await here.read(asset)).toHaveLength(100);
      } else {
        expect(removed.status).toBe('fulfilled');
        await expect(here.assets.get(wholeAccount(accountId), asset.id)).rejects.toEqual(code('not_found'));
      }
    }
  });

  it('that is deleted while its bytes get a new asset leaves bytes that are referred to', async () => {
    for (let round = 0; round < 20; round++) {
      const { id, blob } = await upload();
      const named = { filePath: `copy-${round}`, tags: [], expiresInSeconds: null };
      const [copied] = await Promise.all([
        here.uploads.fromHash(wholeAccount(accountId), blob.hash, named),
        here.assets.remove(wholeAccount(accountId), id),
      ]);
      expect(await here.read(copied.asset)).toHaveLength(100);
      expect(await world.blobs(accountId)).toContainEqual({ hash: blob.hash, state: 'live', assets: 1 });
    }
  });

  it('and its twin, deleted at once, leave an orphan', async () => {
    for (let round = 0; round < 20; round++) {
      const bytes = randomBytes(100);
      const [one, other] = [
        await here.upload(accountId, bytes, { filePath: 'one' }),
        await here.upload(accountId, bytes, { filePath: 'other' }),
      ];
      await Promise.all([one, other].map(({ asset }) => here.assets.remove(wholeAccount(accountId), asset.id)));
      expect(await world.blobs(accountId)).toContainEqual({ hash: one.asset.blob.hash, state: 'orphaned', assets: 0 });
    }
  });
});

describe('the assets that a submission names', () => {
  it("are those that exist and are the caller's, in upper and lower case", async () => {
    const mine = await upload();
    const foreign = (await here.upload(await makeAccount(world.database), randomBytes(10))).asset;
    const shouted = mine.id.toUpperCase();
    const ids = [mine.id, shouted, foreign.id, newId(), 'nonsense', ''];
    expect(await here.assets.resolveForJob(wholeAccount(accountId), ids)).toEqual(new Set([mine.id, shouted]));
    expect(await here.assets.resolveForJob(wholeAccount(accountId), [])).toEqual(new Set());
  });

  it('stay readable for the job when they expire meanwhile', async () => {
    const asset = await upload();
    await world.jobReading(asset);
    await world.letExpire([asset.id]);
    await here.runLoop('expire-assets');
    const { asset: input, body } = await here.content.openInput(accountId, asset.id);
    expect(input.blob).toEqual(asset.blob);
    expect(await buffer(body)).toHaveLength(100);
  });
});

describe('an output', () => {
  const store = (bytes: Buffer, name = 'a.png'): ReturnType<AssetProcess['assets']['storeOutput']> =>
    here.assets.storeOutput(accountId, Readable.from([bytes]), { name });
  const minted = async (jobId: string, output: StoredOutput & { name: string }): Promise<string> => {
    const id = await world.mintOutput(jobId, output);
    if (id === null) throw new Error('the blob is gone');
    return id;
  };

  it('becomes an asset of its job, called what its bytes are, and expires with it', async () => {
    const jobId = await world.jobFor(accountId);
    const bytes = Buffer.from('\x89PNG\r\n\x1a\n and so on', 'latin1');
    const stored = await store(bytes, 'picture.txt');
    expect(stored.contentType).toBe('image/png');
    const id = await minted(jobId, { ...stored, name: 'picture.png' });
    const asset = await here.assets.get(wholeAccount(accountId), id);
    const { expiresAt } = await world.database.models.job.findUniqueOrThrow({ where: { id: jobId } });
    expect(asset).toMatchObject({ jobId, filePath: 'picture.png', contentType: 'image/png', expiresAt });
    expect(await here.read(asset)).toEqual(bytes);
    expect(await world.blobs(accountId)).toEqual([{ hash: asset.blob.hash, state: 'live', assets: 1 }]);
  });

  it('of the same bytes is another asset each time', async () => {
    const jobId = await world.jobFor(accountId);
    const bytes = randomBytes(10);
    const ids = [];
    for (const name of ['a', 'b']) ids.push(await minted(jobId, { ...(await store(bytes)), name }));
    expect(new Set(ids).size).toBe(2);
    expect(await world.blobs(accountId)).toEqual([expect.objectContaining({ state: 'live', assets: 2 })]);
  });

  it('is in use while its job is retained', async () => {
    const jobId = await world.jobFor(accountId);
    const assetId = await minted(jobId, { ...(await store(randomBytes(10))), name: 'a' });
    const place = { nodeId: '1', nodeIndex: 0, attempt: 1, ordinal: 0 };
    await world.database.models.jobOutput.create({ data: { jobId, ...place, name: 'a', type: 'image', assetId } });
    await expect(here.assets.remove(wholeAccount(accountId), assetId)).rejects.toEqual(code('asset_in_use'));
    await world.dropJob(jobId);
    await here.assets.remove(wholeAccount(accountId), assetId);
  });

  it('of more bytes than its job may store is refused', async () => {
    const source = Readable.from([randomBytes(11)]);
    const refused = here.assets.storeOutput(accountId, source, { name: 'a', maxBytes: 10 });
    await expect(refused).rejects.toEqual(code('payload_too_large'));
  });

  it('whose bytes were swept before it was recorded becomes none', async () => {
    const jobId = await world.jobFor(accountId);
    const stored = await store(randomBytes(10));
    await world.passGrace(accountId);
    await here.runLoop('sweep-blobs');
    expect(await world.mintOutput(jobId, { ...stored, name: 'a' })).toBeNull();
  });
});
