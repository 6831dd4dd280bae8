import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { makeAccount } from '@millrace/testing';
import type { AssetRecord } from '../records/asset';
import { blobKey } from '../records/blob';
import { createAssetWorld, type AssetProcess, type AssetWorld } from '../fixtures/asset-world';
import { wholeAccount } from '../records/asset-scope.store';

const PNG = Buffer.from('\x89PNG\r\n\x1a\n0123456789', 'latin1');
let world: AssetWorld;
let here: AssetProcess;
let accountId: string;
beforeAll(async () => {
  world = await createAssetWorld();
  here = world.process();
  accountId = await makeAccount(world.database);
});
afterAll(() => world.drop());

const upload = async (bytes: Buffer, contentType: string): Promise<AssetRecord> =>
  (await here.upload(accountId, bytes, { contentType })).asset;

describe('the content of an asset', () => {
  it('is sent whole, in part, or only described', async () => {
    const { id, blob } = await upload(PNG, 'image/png');
    const whole = await here.content.open(wholeAccount(accountId), id, { method: 'GET' });
    expect(whole).toMatchObject({ status: 200, headers: { ETag: `"${blob.hash}"`, 'Content-Length': '18' } });
    expect(await buffer(whole.body as Readable)).toEqual(PNG);
    const part = await here.content.open(wholeAccount(accountId), id, { method: 'GET', range: 'bytes=8-' });
    expect(part).toMatchObject({ status: 206, headers: { 'Content-Range': 'bytes 8-17/18', 'Content-Length': '10' } });
    expect((await buffer(part.body as Readable)).toString()).toBe('0123456789');
    const head = await here.content.open(wholeAccount(accountId), id, { method: 'HEAD' });
    expect(head).toEqual({ status: 200, headers: whole.headers, body: null });
    const beyond = here.content.open(wholeAccount(accountId), id, { method: 'GET', range: 'bytes=18-' });
    await expect(beyond).rejects.toMatchObject({ status: 416 });
  });

  it('of no bytes is sent too', async () => {
    const { id } = await upload(Buffer.alloc(0), 'image/png');
    const answer = await here.content.open(wholeAccount(accountId), id, { method: 'GET' });
    expect(answer).toMatchObject({ status: 200, body: null, headers: { 'Content-Length': '0' } });
  });

  it.each([
    ['a picture', PNG, 'image/png', 'inline'],
    ['a page that was called a picture', Buffer.from('<html><script>1</script>'), 'image/png', 'attachment'],
    ['a drawing', Buffer.from('<svg onload="alert(1)"/>'), 'image/svg+xml', 'attachment'],
  ])('%s is shown or saved by what it is', async (_, bytes, contentType, disposition) => {
    const { id } = await upload(bytes, contentType);
    const { headers } = await here.content.open(wholeAccount(accountId), id, { method: 'HEAD' });
    expect(headers['Content-Type']).toBe(contentType);
    expect(headers['Content-Disposition']).toBe(`${disposition}; filename="a.txt"`);
  });

  it('that the store has lost is answered as lost until its owner uploads it again', async () => {
    const { id, blob } = await upload(Buffer.from('bytes of a disk that broke'), 'text/plain');
    await world.store.delete(blobKey(blob));
    const lost = { code: 'content_lost', status: 410, message: expect.stringContaining(id) as string };
    await expect(here.content.open(wholeAccount(accountId), id, { method: 'GET' })).rejects.toMatchObject(lost);
    await expect(here.content.open(wholeAccount(accountId), id, { method: 'GET' })).rejects.toMatchObject(lost);
    // Its owner can mend it.
    await upload(Buffer.from('bytes of a disk that broke'), 'text/plain');
    const whole = await here.content.open(wholeAccount(accountId), id, { method: 'GET' });
    expect((await buffer(whole.body as Readable)).toString()).toBe('bytes of a disk that broke');
  });

  it('lies nowhere but here when the store is a folder', async () => {
    const { id } = await upload(PNG, 'image/png');
    expect(await here.content.location(wholeAccount(accountId), id, 'GET')).toBeNull();
  });
});
