import { randomBytes } from 'node:crypto';
import { makeAccount } from '@millrace/testing';
import { createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import { createTestBucket } from '../fixtures/test-bucket';
import { S3BlobStore } from '../store/s3/s3.blob-store';
import { wholeAccount } from '../records/asset-scope.store';

let world: AssetWorld;
let store: S3BlobStore;
let here: AssetProcess;
let accountId: string;
beforeAll(async () => {
  world = await createAssetWorld();
  store = new S3BlobStore(await createTestBucket());
  here = world.process(store, { maxUploadBytes: 10_000_000 });
  accountId = await makeAccount(world.database);
});
afterAll(async () => {
  store.close();
  await world.drop();
});

async function follow(id: string, method: 'GET' | 'HEAD', range?: string): Promise<Response> {
  const location = await here.content.location(wholeAccount(accountId), id, method);
  if (location === null) throw new Error('the store has no link');
  return fetch(location, { method, headers: range === undefined ? {} : { range } });
}

describe('the content of an asset in a bucket', () => {
  it('is fetched from the bucket without a credential, whole or in part', async () => {
    const sent = randomBytes(6_000_000);
    const { asset } = await here.upload(accountId, sent, {
      contentType: 'application/x-model',
      filePath: 'a/große Datei',
    });
    const whole = await follow(asset.id, 'GET');
    expect(whole.headers.get('content-type')).toBe('application/x-model');
    expect(whole.headers.get('content-disposition')).toContain("filename*=UTF-8''gro%C3%9Fe%20Datei");
    expect(Buffer.from(await whole.arrayBuffer()).equals(sent)).toBe(true);
    const part = await follow(asset.id, 'GET', 'bytes=10-19');
    expect(part.status).toBe(206);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(sent.subarray(10, 20));
    expect((await follow(asset.id, 'HEAD')).headers.get('content-length')).toBe('6000000');
  });

  it.each([
    ['a picture', Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), 'inline'],
    ['a page that was called a picture', Buffer.from('<html>'), 'attachment'],
  ])('%s is shown or saved by what it is', async (_, bytes, disposition) => {
    const { asset } = await here.upload(accountId, bytes, { contentType: 'image/png' });
    const answer = await follow(asset.id, 'GET');
    expect(answer.headers.get('content-disposition')).toBe(`${disposition}; filename="a.txt"`);
  });

  it('has presigned links that end with ours, and that never last longer than a new one of ours', async () => {
    const { asset } = await here.upload(accountId, randomBytes(100));
    const secondsOf = async (until?: Date): Promise<number> => {
      const location = await here.content.location(wholeAccount(accountId), asset.id, 'GET', until);
      return Number(new URL(location ?? '').searchParams.get('X-Amz-Expires'));
    };
    const longest = await secondsOf();
    const now = Date.now();
    jest.spyOn(Date, 'now').mockReturnValue(now);
    expect(await secondsOf(new Date(now + 30_500))).toBe(30);
    expect(await secondsOf(new Date(now + 10))).toBe(1);
    expect(await secondsOf(new Date(now + 86_400_000_000))).toBe(longest);
    jest.restoreAllMocks();
  });

  it('is not linked to once it is deleted, and its bytes go with the sweep', async () => {
    const { asset } = await here.upload(accountId, randomBytes(100));
    const location = (await here.content.location(wholeAccount(accountId), asset.id, 'GET')) ?? '';
    await here.assets.remove(wholeAccount(accountId), asset.id);
    await expect(here.content.location(wholeAccount(accountId), asset.id, 'GET')).rejects.toMatchObject({
      code: 'not_found',
    });
    await world.passGrace(accountId);
    expect(await here.runLoop('sweep-blobs')).toBe(1);
    expect((await fetch(location)).status).toBe(404);
    expect(await here.audit.run(true)).toMatchObject({ strayKeys: [], lostBlobs: [], corruptBlobs: [] });
  });
});
