import { randomBytes } from 'node:crypto';
import { newId, type Asset, type AssetPage } from '@millrace/contracts';
import type { Answer, ApiClient } from '@millrace/testing';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

let api: RunningApi;
let account: TestAccount;
let client: ApiClient;
/** The account's uploads, newest first. */
let uploads: Asset[];
beforeAll(async () => {
  api = await RunningApi.open();
  account = await api.account();
  client = api.client(account.key);
  uploads = [];
  for (let n = 0; n < 5; n += 1) {
    uploads.unshift(await upload(n % 2 === 0 ? 'image/png' : 'Text/Plain', `${n}.bin`));
  }
  await letBeSecondsApart();
});
afterAll(() => api.close());

const PATH = '/api/v2/assets';
const ids = (list: readonly { id: string }[]): string[] => list.map(({ id }) => id);
const ask = (query: Record<string, string>, who = client): Promise<Answer<AssetPage>> =>
  who.call<AssetPage>('GET', `${PATH}?${String(new URLSearchParams(query))}`);
async function page(query: Record<string, string> = {}, who = client): Promise<AssetPage> {
  const { status, body, text } = await ask(query, who);
  if (status !== 200) throw new Error(`${status} ${text}`);
  return body;
}

async function upload(type: string, path: string, who = client): Promise<Asset> {
  return (await who.upload(randomBytes(100), { content_type: type, file_path: path })).body;
}

/** Give the uploads the times 10:00:05 to 10:00:01 of a day, as they are ordered. */
async function letBeSecondsApart(): Promise<void> {
  for (const [n, { id }] of uploads.entries()) {
    const createdAt = new Date(`2026-01-01T10:00:0${5 - n}Z`);
    await api.test.database.models.asset.update({ where: { id }, data: { createdAt } });
  }
}

describe('GET /assets', () => {
  it('has the uploads of the account, newest first, as they are read one by one', async () => {
    const { assets, ...rest } = await page();
    expect(rest).toEqual({});
    expect(ids(assets)).toEqual(ids(uploads));
    const { body } = await client.call<Asset>('GET', `${PATH}/${uploads[0]?.id}`);
    const links = { url: expect.any(String) as string, url_expires_at: expect.any(String) as string };
    expect(assets[0]).toEqual({ ...body, ...links });
    const bytes = await fetch(assets[0]?.url ?? '');
    expect([bytes.status, (await bytes.arrayBuffer()).byteLength]).toEqual([200, 100]);
  });

  it('goes on where a page ended, while assets arrive and go; the last page has no next_cursor', async () => {
    const first = await page({ limit: '2' });
    const late = await upload('image/png', 'late.bin');
    const second = await page({ limit: '2', cursor: first.next_cursor ?? '' });
    const last = await page({ limit: '2', cursor: second.next_cursor ?? '' });
    expect([first, second, last].map(({ assets }) => ids(assets)).flat()).toEqual(ids(uploads));
    expect(last.next_cursor).toBeUndefined();
    expect(first.next_cursor).not.toBe(second.next_cursor);
    await client.call('DELETE', `${PATH}/${late.id}`);
    expect(ids((await page()).assets)).toEqual(ids(uploads));
  });

  it('filters by the begin of the content type, in any case, and by time', async () => {
    const pictures = uploads.filter(({ content_type: type }) => type === 'image/png');
    expect(ids((await page({ content_type: 'IMAGE/' })).assets)).toEqual(ids(pictures));
    expect(ids((await page({ content_type: 'text/plain' })).assets)).toHaveLength(2);
    expect((await page({ content_type: '%' })).assets).toEqual([]);
    const span = { created_after: '2026-01-01T10:00:02Z', created_before: '2026-01-01T11:00:04+01:00' };
    expect(ids((await page(span)).assets)).toEqual(ids(uploads.slice(2, 4)));
    expect((await page({ created_after: '2026-01-02' })).assets).toEqual([]);
    expect((await page({ created_after: '0000-01-01', created_before: '9999-12-31' })).assets).toHaveLength(5);
  });

  it('has with kind=output what jobs made, with the job that made it', async () => {
    const made = await upload('image/png', 'made.png');
    const jobId = newId();
    await api.test.database.models.asset.update({ where: { id: made.id }, data: { jobId } });
    expect(ids((await page()).assets)).not.toContain(made.id);
    const outputs = await page({ kind: 'output' });
    expect(outputs.assets).toMatchObject([{ id: made.id, job_id: jobId, file_path: 'made.png' }]);
  });

  it('shows an account its own, and nothing that has expired', async () => {
    const other = api.client((await api.account()).key);
    expect(await page({}, other)).toEqual({ assets: [] });
    const { id } = await upload('image/png', 'a.png', other);
    expect(ids((await page({}, other)).assets)).toEqual([id]);
    await api.test.database.models.asset.update({ where: { id }, data: { expiresAt: new Date(Date.now() - 1_000) } });
    expect(await page({}, other)).toEqual({ assets: [] });
  });

  it.each(['limit=0', 'limit=101', 'limit=1&limit=2', 'kind=all', 'content_type=', 'created_after=yesterday'])(
    'refuses %s',
    async (query) => {
      const { status, body } = await client.call('GET', `${PATH}?${query}`);
      expect([status, body.error.code]).toEqual([400, 'invalid_request']);
    },
  );

  const cursorOf = (kind: string, position: string): string =>
    Buffer.from(JSON.stringify([kind, position])).toString('base64url');
  it.each([
    'x',
    '',
    newId(),
    cursorOf('jobs', newId()),
    cursorOf('assets', newId()),
    cursorOf('assets', `99999999999999 ${newId()}`),
    cursorOf('assets', `1 ${'-'.repeat(36)}`),
  ])('refuses a cursor that it did not return: %j', async (cursor) => {
    const { status, body } = await client.call('GET', `${PATH}?cursor=${encodeURIComponent(cursor)}`);
    expect([status, body.error.code]).toEqual([400, 'invalid_cursor']);
  });
});
