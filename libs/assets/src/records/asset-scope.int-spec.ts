import { Readable } from 'node:stream';
import { Prisma } from '@prisma/client';
import { makeAccount } from '@millrace/testing';
import { createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import type { AssetListFilter } from './asset.service';
import { wholeAccount, type AssetScope } from './asset-scope.store';

let world: AssetWorld;
let here: AssetProcess;
let accountId: string;
beforeAll(async () => {
  world = await createAssetWorld();
  here = world.process();
});
beforeEach(async () => {
  accountId = await makeAccount(world.database);
});
afterAll(() => world.drop());

const of = (user: string): AssetScope => ({ accountId, labels: { user } });

/** An output of a job with a label. @returns the asset's id. */
async function makeOutput(user: string, text: string): Promise<string> {
  const jobId = await world.jobFor(accountId);
  await world.database.execute(Prisma.sql`
    UPDATE jobs SET metadata = ${JSON.stringify({ user, shot: '7' })}::jsonb WHERE id = ${jobId}::uuid`);
  const stored = await here.assets.storeOutput(accountId, Readable.from([Buffer.from(text)]), { name: 'a.txt' });
  const id = await world.mintOutput(jobId, { ...stored, name: 'a.txt' });
  if (id === null) throw new Error('the output was not minted');
  await world.database.models.jobOutput.create({
    data: { jobId, assetId: id, nodeId: '1', nodeIndex: 0, attempt: 0, ordinal: 0, name: 'a.txt', type: 'text' },
  });
  return id;
}

const filter = (kind: AssetListFilter['kind']): AssetListFilter => {
  return { kind, contentType: null, createdAfter: null, createdBefore: null, cursor: null, limit: 10 };
};
const listed = async (scope: AssetScope, kind: AssetListFilter['kind']): Promise<string[]> =>
  (await here.assets.list(scope, filter(kind))).items.map(({ id }) => id);

describe('an output of a job with labels', () => {
  it('is read, served, and used as an input by a sub-key whose labels the job has, and by no other', async () => {
    const id = await makeOutput('ada', 'of ada');
    expect((await here.assets.get(of('ada'), id)).id).toBe(id);
    expect(await here.assets.resolveForJob(of('ada'), [id])).toEqual(new Set([id]));
    expect(await here.assets.resolveForJob(of('bob'), [id])).toEqual(new Set());
    for (const scope of [of('bob'), { accountId, labels: { user: 'ada', team: 'x' } }]) {
      await expect(here.assets.get(scope, id)).rejects.toMatchObject({ code: 'not_found' });
      await expect(here.content.open(scope, id, { method: 'GET' })).rejects.toMatchObject({ code: 'not_found' });
      await expect(here.assets.remove(scope, id)).rejects.toMatchObject({ code: 'not_found' });
    }
  });

  it('is listed for that sub-key and for the account', async () => {
    const [mine, other] = [await makeOutput('ada', 'one'), await makeOutput('bob', 'two')];
    expect(await listed(of('ada'), 'output')).toEqual([mine]);
    expect(await listed(of('bob'), 'output')).toEqual([other]);
    expect(await listed(of('eve'), 'output')).toEqual([]);
    expect((await listed(wholeAccount(accountId), 'output')).sort()).toEqual([mine, other].sort());
    expect(await listed(of('ada'), 'upload')).toEqual([]);
  });

  it('is listed for that sub-key, too, when its job no longer shows it', async () => {
    const assetId = await makeOutput('ada', 'replaced');
    await world.database.models.jobOutput.delete({ where: { assetId } });
    expect(await listed(of('ada'), 'output')).toEqual([assetId]);
    expect(await listed(of('bob'), 'output')).toEqual([]);
  });

  it('has bytes that another sub-key finds only once it has uploaded them itself', async () => {
    const id = await makeOutput('ada', 'the same bytes');
    const { blob } = await here.assets.get(of('ada'), id);
    expect(await here.uploads.hasBlob(of('ada'), blob.hash)).toBe(true);
    expect(await here.uploads.hasBlob(of('bob'), blob.hash)).toBe(false);
    const { createdNew } = await here.upload(accountId, Buffer.from('the same bytes'), { labels: { user: 'bob' } });
    expect(createdNew).toBe(true);
    expect(await here.uploads.hasBlob(of('bob'), blob.hash)).toBe(true);
  });
});

describe('bytes that a sub-key asks for by their hash', () => {
  it('are there for it where an asset of its own stays for an hour, for the account in any case', async () => {
    const bytes = Buffer.from('soon gone');
    const upload = async (expiresInSeconds: number): Promise<string> =>
      (await here.upload(accountId, bytes, { labels: { user: 'ada' }, expiresInSeconds })).asset.blob.hash;
    const hash = await upload(60);
    expect(await here.uploads.hasBlob(of('ada'), hash)).toBe(false);
    expect(await here.uploads.hasBlob(wholeAccount(accountId), hash)).toBe(true);
    const asked = { filePath: null, tags: [], expiresInSeconds: null };
    const { asset } = await here.uploads.fromHash(of('ada'), hash, asked);
    expect(await here.uploads.hasBlob(of('ada'), hash)).toBe(true);
    await here.assets.remove(of('ada'), asset.id);
    expect(await here.uploads.hasBlob(of('ada'), hash)).toBe(false);
    await upload(3_601);
    expect(await here.uploads.hasBlob(of('ada'), hash)).toBe(true);
  });
});
