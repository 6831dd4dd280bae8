import { newId, type Job } from '@millrace/contracts';
import { GRAPH, announceCatalogue } from '../fixtures/own-records';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

const LINK_SECONDS = 900;

let api: RunningApi;
let owner: TestAccount;
let other: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open({ MILLRACE_SIGNED_URL_SECONDS: String(LINK_SECONDS) });
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
  [owner, other] = await Promise.all([api.account(), api.account()]);
});
afterAll(() => api.close());

interface Poll {
  status: number;
  text: string;
  headers: Record<string, string | undefined>;
  etag: string;
}

async function poll(path: string, known?: string, { key } = owner, method = 'GET'): Promise<Poll> {
  const headers: Record<string, string> = known === undefined ? {} : { 'If-None-Match': known };
  const answer = await api.client(key).call<Job>(method, path, { headers });
  const { status, text } = answer;
  return { status, text, headers: answer.headers, etag: answer.headers.etag ?? '' };
}

async function submitted(): Promise<string> {
  return (await api.client(owner.key).run(GRAPH)).urls.self;
}

describe('a poll of a job', () => {
  it('names what it shows, and sends it once to a client that names it', async () => {
    const path = await submitted();
    const first = await poll(path);
    expect(first.etag).toMatch(/^W\/"[\w-]{22}"$/);
    for (const known of [first.etag, first.etag.slice(2), `"x", ${first.etag}`, '*']) {
      const again = await poll(path, known);
      expect([again.status, again.text, again.etag]).toEqual([304, '', first.etag]);
    }
    const changed = await poll(path, '"another"');
    expect([changed.status, changed.etag, changed.text.length]).toEqual([200, first.etag, first.text.length]);
  });

  it('carries the same headers as the 304: no shared cache keeps it, none shows it unasked, and both count', async () => {
    const path = await submitted();
    const { headers, etag } = await poll(path);
    const unchanged = await poll(path, etag);
    const name = (header: string): unknown => [headers[header], unchanged.headers[header]];
    expect(name('cache-control')).toEqual(['private, no-cache', 'private, no-cache']);
    expect(name('ratelimit-policy')).toEqual(['"polls";q=120000;w=60', '"polls";q=120000;w=60']);
    const left = [headers, unchanged.headers].map(({ ratelimit = '' }) => Number(/r=(\d+)/.exec(ratelimit)?.[1]));
    expect((left[0] ?? 0) - (left[1] ?? 0)).toBeGreaterThanOrEqual(1);
    expect(unchanged.headers['content-type']).toBeUndefined();
  });

  it('by fetch is answered 304 as well, which sends no-cache with every condition', async () => {
    const path = await submitted();
    const { etag } = await poll(path);
    const headers = { authorization: `Bearer ${owner.key}`, 'if-none-match': etag };
    const answer = await fetch(api.publicUrl + path, { headers });
    expect([answer.status, await answer.text()]).toEqual([304, '']);
  });

  it('is answered by HEAD alike, without the job', async () => {
    const path = await submitted();
    const { etag } = await poll(path);
    const head = await fetch(api.publicUrl + path, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${owner.key}` },
    });
    expect([head.status, head.headers.get('etag'), await head.text()]).toEqual([200, etag, '']);
  });

  it('shows what has changed', async () => {
    const path = await submitted();
    const { etag } = await poll(path);
    expect((await api.client(owner.key).call('POST', `${path}/cancel`)).status).toBe(200);
    const ended = await poll(path, etag);
    expect([ended.status, (JSON.parse(ended.text) as Job).status]).toEqual([200, 'canceled']);
    expect((await poll(path, ended.etag)).status).toBe(304);
  });

  it('is answered whole again well before the links of the answer expire', async () => {
    const path = await submitted();
    const { etag } = await poll(path);
    const now = Date.now();
    const clock = jest.spyOn(Date, 'now').mockReturnValue(now + (LINK_SECONDS / 4) * 1_000);
    try {
      expect((await poll(path, etag)).status).toBe(200);
    } finally {
      clock.mockRestore();
    }
  });
});

describe('a condition is worth nothing to who may not read the job', () => {
  it.each(['*', 'the tag of its owner'])(
    '%s of another account, of nobody, and for a job that is not there',
    async (tag) => {
      const path = await submitted();
      const known = tag === '*' ? '*' : (await poll(path)).etag;
      expect((await poll(path, known, other)).status).toBe(404);
      expect((await poll(`/api/v2/jobs/${newId()}`, known)).status).toBe(404);
      const nobody = await api.client(null).call('GET', path, { headers: { 'If-None-Match': known } });
      expect([nobody.status, nobody.headers.etag]).toEqual([401, undefined]);
    },
  );

  it('the name of a job on one surface is none on another', async () => {
    const path = await submitted();
    const { etag } = await poll(path);
    expect((await poll(`/deployment/${newId()}${path}`, etag)).status).toBe(404);
  });
});
