import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { makeAccount } from '@millrace/testing';
import { createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import { createTestBucket } from '../fixtures/test-bucket';
import type { AssetRecord } from '../records/asset';
import { wholeAccount } from '../records/asset-scope.store';
import { blobKey, type BlobRef } from '../records/blob';
import type { BlobStore } from '../store/blob-store';
import { FsBlobStore } from '../store/fs/fs.blob-store';
import { S3BlobStore } from '../store/s3/s3.blob-store';

let world: AssetWorld;
let bucket: S3BlobStore;
beforeAll(async () => {
  world = await createAssetWorld();
  bucket = new S3BlobStore(await createTestBucket());
});
afterAll(async () => {
  bucket.close();
  await world.drop();
});

describe.each([
  ['a folder', (): BlobStore => world.store],
  ['a bucket', (): BlobStore => bucket],
])('bytes in %s', (_, storeOf) => {
  let store: BlobStore;
  let here: AssetProcess;
  let accountId: string;
  beforeEach(async () => {
    store = storeOf();
    here = world.process(store);
    accountId = await makeAccount(world.database);
  });

  /** Other bytes of the same size under the key of an asset: what a disk makes of them. */
  const rot = async ({ blob }: AssetRecord): Promise<void> => {
    const other = await store.stage(Readable.from([randomBytes(blob.sizeBytes)]), { maxBytes: blob.sizeBytes });
    await other.place(blobKey(blob));
  };
  /** What asking for the content comes to, by each way that there is. */
  const answers = async ({ id }: AssetRecord): Promise<string[]> => {
    const scope = wholeAccount(accountId);
    const ways = [
      () => here.content.open(scope, id, { method: 'GET' }).then(({ body }) => body?.destroy()),
      () => here.content.openInput(accountId, id).then(({ body }) => body.destroy()),
      () => here.content.locateInput(accountId, id),
      () => here.content.openPart(accountId, id, { start: 0, end: 1 }).then((body) => body.destroy()),
      ...(store.kind === 's3' ? [() => here.content.location(scope, id, 'GET')] : []),
    ];
    const said = ways.map(async (way) => {
      const codeOf = (error: { code?: string; message: string }): string => {
        expect(error.message).toContain(id);
        return error.code ?? 'another error';
      };
      return (way() as Promise<unknown>).then(() => 'served', codeOf);
    });
    return [...new Set(await Promise.all(said))];
  };
  const marks = async (): Promise<boolean[]> => {
    const blobs = await world.database.models.blob.findMany({ where: { accountId } });
    return blobs.flatMap(({ lostAt, damagedAt }) => [lostAt !== null, damagedAt !== null]);
  };

  /** Of this account: other tests, and the other store, leave damage behind. */
  const audited = async (readAll: boolean): Promise<{ lost: string[]; rotten: string[] }> => {
    const { lostBlobs, corruptBlobs } = await here.audit.run(readAll);
    const mine = (blobs: BlobRef[]): string[] =>
      blobs.filter((blob) => blob.accountId === accountId).map(({ hash }) => hash);
    return { lost: mine(lostBlobs), rotten: mine(corruptBlobs) };
  };

  it('that somebody found to have another hash are refused as lost until they are uploaded again', async () => {
    const bytes = randomBytes(1_000);
    const { asset } = await here.upload(accountId, bytes);
    await rot(asset);
    // Nobody has looked yet.
    expect(await answers(asset)).toEqual(['served']);
    expect(await here.content.doubtInput(accountId, asset.id)).toBe(true);
    expect(await answers(asset)).toEqual(['content_lost']);
    expect(await here.uploads.hasBlob(wholeAccount(accountId), asset.blob.hash)).toBe(false);
    await here.upload(accountId, bytes);
    expect(await answers(asset)).toEqual(['served']);
    expect(await here.read(asset)).toEqual(bytes);
    expect(await marks()).toEqual([false, false]);
  });

  it('that are sound stay so, no matter who doubts them', async () => {
    const { asset } = await here.upload(accountId, randomBytes(1_000));
    expect(await here.content.doubtInput(accountId, asset.id)).toBe(false);
    expect([await answers(asset), await marks()]).toEqual([['served'], [false, false]]);
  });

  it('that are mended while they are looked at keep no mark', async () => {
    const bytes = randomBytes(1_000);
    const { asset } = await here.upload(accountId, bytes);
    await rot(asset);
    // Between the first look, which finds them damaged, and the mark.
    const first = jest.spyOn(store, 'open').mockImplementationOnce(async (key, range) => {
      first.mockRestore();
      const damaged = await buffer(await store.open(key, range));
      await here.upload(accountId, bytes);
      const repair = await store.stage(Readable.from([bytes]), { maxBytes: bytes.length });
      await repair.place(key);
      return Readable.from([damaged]);
    });
    expect(await here.content.doubtInput(accountId, asset.id)).toBe(false);
    expect([await answers(asset), await marks()]).toEqual([['served'], [false, false]]);
  });

  it('that are gone are lost, and come back with them', async () => {
    const bytes = randomBytes(1_000);
    const { asset } = await here.upload(accountId, bytes);
    await store.delete(blobKey(asset.blob));
    await expect(here.content.openInput(accountId, asset.id)).rejects.toMatchObject({ code: 'content_lost' });
    expect(await marks()).toEqual([true, false]);
    // Known by now, so links of a bucket are refused, too.
    expect(await answers(asset)).toEqual(['content_lost']);
    // As from a backup, or on a disk that was away.
    const again = await store.stage(Readable.from([bytes]), { maxBytes: bytes.length });
    await again.place(blobKey(asset.blob));
    expect(await answers(asset)).toEqual(['served']);
    expect(await marks()).toEqual([false, false]);
  });

  it('that are asked for by their hash and are gone are noted', async () => {
    const { asset } = await here.upload(accountId, randomBytes(1_000));
    await store.delete(blobKey(asset.blob));
    expect(await here.uploads.hasBlob(wholeAccount(accountId), asset.blob.hash)).toBe(false);
    expect(await marks()).toEqual([true, false]);
  });

  it('are marked by the audit, which counts them, and takes back what is not so any more', async () => {
    const [lost, rotten] = [randomBytes(1_000), randomBytes(1_000)];
    const ofLost = (await here.upload(accountId, lost)).asset;
    const ofRotten = (await here.upload(accountId, rotten)).asset;
    await store.delete(blobKey(ofLost.blob));
    await rot(ofRotten);
    const found = { lost: [ofLost.blob.hash], rotten: [ofRotten.blob.hash] };
    expect(await audited(true)).toEqual(found);
    expect([await answers(ofLost), await answers(ofRotten)]).toEqual([['content_lost'], ['content_lost']]);
    // What was read once is remembered by an audit that reads nothing.
    expect(await audited(false)).toEqual(found);

    for (const [{ blob }, bytes] of [[ofLost, lost] as const, [ofRotten, rotten] as const]) {
      const copy = await store.stage(Readable.from([bytes]), { maxBytes: bytes.length });
      await copy.place(blobKey(blob));
    }
    expect(await audited(true)).toEqual({ lost: [], rotten: [] });
    expect([await answers(ofLost), await answers(ofRotten)]).toEqual([['served'], ['served']]);
    expect(await marks()).toEqual([false, false, false, false]);
  });
});

it('sound content is answered with one statement, as before', async () => {
  const here = world.process();
  const accountId = await makeAccount(world.database);
  const { asset } = await here.upload(accountId, randomBytes(100));
  const statements = jest.spyOn(world.database, 'rows');
  const others = [jest.spyOn(world.database, 'execute'), jest.spyOn(world.database, 'transaction')];
  const { body } = await here.content.open(wholeAccount(accountId), asset.id, { method: 'GET' });
  await buffer(body as Readable);
  expect(statements).toHaveBeenCalledTimes(1);
  for (const other of others) expect(other).not.toHaveBeenCalled();
  jest.restoreAllMocks();
});

it('a folder that was away for a while leaves nothing lost', async () => {
  const accountId = await makeAccount(world.database);
  const { asset } = await world.process().upload(accountId, Buffer.from('bytes of a folder'));
  const away = world.process(new FsBlobStore('/nonexistent'));
  await expect(away.content.openInput(accountId, asset.id)).rejects.toMatchObject({ code: 'content_lost' });
  expect(await world.process().read(asset)).toEqual(Buffer.from('bytes of a folder'));
});
