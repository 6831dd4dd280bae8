import { createdAtOf, newId, type Job, type JobPage } from '@millrace/contracts';
import { ApiClient, TestStack, type TestAccount } from '@millrace/testing';

let stack: TestStack;
let account: TestAccount;
let client: ApiClient;
/** The account's jobs, newest first. */
let jobs: Job[];
beforeAll(async () => {
  stack = await TestStack.start();
  await stack.workers[0]?.end();
  account = await stack.createAccount(10_000_000_000, { queue_limit: 1_000 });
  client = new ApiClient(stack.publicUrl, account.apiKey);
  jobs = [];
  for (let nth = 0; nth < 25; nth += 1) {
    jobs.unshift(
      await client.run(GRAPH, { metadata: { nth: `${nth}`, parity: nth % 2 === 0 ? 'even' : 'odd', at: 'ü/&=' } }),
    );
  }
  for (const { id } of jobs.slice(0, 3)) await client.call('POST', `/api/v2/jobs/${id}/cancel`);
});
afterAll(() => stack.stop());

const GRAPH = {
  '1': { class_type: 'PrimitiveInt', inputs: { value: 7 } },
  '2': { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
};
const ids = (list: readonly { id: string }[]): string[] => list.map(({ id }) => id);
const page = async (query: Record<string, string> = {}, who = client): Promise<JobPage> => {
  const { status, body, text } = await who.call<JobPage>('GET', `/api/v2/jobs?${String(new URLSearchParams(query))}`);
  if (status !== 200) throw new Error(`${status} ${text}`);
  return body;
};

describe('GET /jobs', () => {
  it('lists newest first, 20 at a time, and the next page goes on where it ended; the last has no next_cursor', async () => {
    const first = await page();
    expect(ids(first.jobs)).toEqual(ids(jobs).slice(0, 20));
    const last = await page({ cursor: first.next_cursor ?? '' });
    expect(ids(last.jobs)).toEqual(ids(jobs).slice(20));
    expect(Object.keys(last)).toEqual(['jobs']);
  });

  it('never repeats a cursor, and ends also where the last page is full', async () => {
    const seen: string[] = [];
    const cursors = new Set<string>();
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const next: JobPage = await page(cursor === '' ? { limit: '5' } : { limit: '5', cursor });
      seen.push(...ids(next.jobs));
      cursor = next.next_cursor;
      expect(cursors.has(cursor ?? '')).toBe(false);
      cursors.add(cursor ?? '');
    }
    expect(seen).toEqual(ids(jobs));
  });

  it('goes on undisturbed while new jobs arrive', async () => {
    const own = await stack.createAccount();
    const who = new ApiClient(stack.publicUrl, own.apiKey);
    const old = [await who.run(GRAPH), await who.run(GRAPH), await who.run(GRAPH)].reverse();
    const first = await page({ limit: '2' }, who);
    await who.run(GRAPH);
    const second = await page({ limit: '2', cursor: first.next_cursor ?? '' }, who);
    expect([...ids(first.jobs), ...ids(second.jobs)]).toEqual(ids(old));
  });

  it('shows each job as it is, with the times it is sorted by, its metadata and its deployment; never logs', async () => {
    const { jobs: items } = await page({ limit: '100' });
    const queued = items[5];
    const job = await client.job(queued?.id ?? '');
    expect(queued).toEqual({
      ...job,
      // What was handed to the worker that went away moves in between: places are estimates of one moment.
      queue_position: expect.any(Number) as number,
      create_time: job.created_at,
      update_time: expect.stringMatching(/Z$/) as string,
      deployment_id: null,
    });
    const positions = items.slice(3).map((item) => item.queue_position ?? 0);
    expect(positions).toEqual([...positions].sort((one, other) => other - one));
    expect(positions[0]).toBeGreaterThan(15);
    expect(positions.at(-1)).toBe(1);
    expect(items[0]).toMatchObject({ status: 'canceled', queue_position: null });
  });

  it.each(['1', '7', '100'])('takes a limit of %s', async (limit) => {
    expect((await page({ limit })).jobs).toHaveLength(Math.min(25, Number(limit)));
  });

  it('filters by status', async () => {
    expect(ids((await page({ status: 'canceled' })).jobs)).toEqual(ids(jobs).slice(0, 3));
    expect((await page({ status: 'queued', limit: '100' })).jobs).toHaveLength(22);
    expect((await page({ status: 'failed' })).jobs).toEqual([]);
  });

  it('filters by the time of submission, from one on and up to another, page by page', async () => {
    expect(jobs.map((job) => Date.parse(job.created_at))).toEqual(ids(jobs).map(createdAtOf));
    const [end = '', since = ''] = [jobs[4]?.created_at, jobs[9]?.created_at];
    const query = { created_after: since, created_before: end, limit: '3' };
    const first = await page(query);
    const second = await page({ ...query, cursor: first.next_cursor ?? '' });
    expect([...ids(first.jobs), ...ids(second.jobs)]).toEqual(ids(jobs).slice(5, 10));
    expect(second.next_cursor).toBeUndefined();
    expect((await page({ created_after: '2999-01-01' })).jobs).toEqual([]);
    const answer = await client.call('GET', '/api/v2/jobs?created_after=yesterday');
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
  });

  it('filters by up to 3 labels, all of which must match, together with status and cursor', async () => {
    expect((await page({ 'metadata[parity]': 'odd', limit: '100' })).jobs).toHaveLength(12);
    expect((await page({ 'metadata[parity]': 'odd', 'metadata[nth]': '4' })).jobs).toEqual([]);
    const query = { 'metadata[parity]': 'even', 'metadata[at]': 'ü/&=', status: 'queued', limit: '6' };
    const first = await page(query);
    const second = await page({ ...query, cursor: first.next_cursor ?? '' });
    const expected = jobs.slice(3).filter((job) => job.metadata.parity === 'even');
    expect([...ids(first.jobs), ...ids(second.jobs)]).toEqual(ids(expected));
  });

  it.each(['0', '101', '-1', '1.5', 'x', '', '1e1', ' 1'])('refuses the limit %j', async (limit) => {
    const answer = await client.call('GET', `/api/v2/jobs?limit=${encodeURIComponent(limit)}`);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.error.details).toMatchObject({ fields: [{ field: 'limit' }] });
  });

  it.each(['status=done', 'status=', 'status=queued&status=running', 'limit=1&limit=2'])(
    'refuses %s',
    async (query) => {
      const answer = await client.call('GET', `/api/v2/jobs?${query}`);
      expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    },
  );

  it.each(['x', '', newId(), 'WyJqb2JzIiwiYSJd', '%00', Buffer.from('["assets","x"]').toString('base64url')])(
    'refuses a cursor that it did not return: %j',
    async (cursor) => {
      const answer = await client.call('GET', `/api/v2/jobs?cursor=${encodeURIComponent(cursor)}`);
      expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_cursor']);
    },
  );

  it.each([
    'metadata[a]=1&metadata[b]=1&metadata[c]=1&metadata[d]=1',
    'metadata[a]=1&metadata[a]=2',
    'metadata[a b]=1',
    'metadata[]=1',
    'metadata=1',
    'metadata[a=1',
    'metadata[a][b]=1',
    `metadata[${'k'.repeat(41)}]=1`,
    `metadata[a]=${'v'.repeat(257)}`,
    'metadata[a]=%00',
    'metadata[a]=%0A',
  ])('refuses a metadata filter that no job can match: %s', async (query) => {
    const answer = await client.call('GET', `/api/v2/jobs?${query}`);
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_metadata_filter']);
  });

  it('ignores parameters that it does not know', async () => {
    expect((await page({ limit: '1', offset: '3', metadatax: '1' })).jobs).toHaveLength(1);
  });

  it('shows nothing of another account, nor what is past its expires_at', async () => {
    const other = await stack.createAccount();
    const who = new ApiClient(stack.publicUrl, other.apiKey);
    expect(await page({}, who)).toEqual({ jobs: [] });
    const { id } = await who.run(GRAPH);
    expect(ids((await page({}, who)).jobs)).toEqual([id]);
    const passed = new Date(Date.now() - 1_000);
    await stack.test.database.models.job.update({ where: { id }, data: { deadlineAt: passed, expiresAt: passed } });
    expect(await page({}, who)).toEqual({ jobs: [] });
  });
});
