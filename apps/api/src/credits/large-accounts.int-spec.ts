import { Prisma } from '@prisma/client';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

/** More than one page of groups, and more than JSON has. */
const USERS = 10_001;
const SPAN = 'from=2026-03-01&to=2026-03-03';

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open({ MILLRACE_DATABASE_TIMEOUT_MS: '3000' });
  account = await api.account();
  // Each user has two jobs, the first of them one more without a label.
  await api.test.database.execute(Prisma.sql`
    INSERT INTO usage_records (job_id, account_id, status, billable_ms, charged_micros, labels, finished_at)
    SELECT gen_random_uuid(), ${account.id}::uuid, 'succeeded', 5, n,
      CASE WHEN n = 0 THEN '{}' ELSE jsonb_build_object('user', 'user-' || n) END, '2026-03-02T00:00:00Z'
    FROM generate_series(0, ${USERS}) n, generate_series(1, 2)`);
});
afterAll(() => api.close());

const ask = (path: string, accept = 'application/json', key = account.key): Promise<Response> =>
  fetch(`${api.publicUrl}/platform/v1${path}`, { headers: { authorization: `Bearer ${key}`, accept } });
const usage = `/usage?${SPAN}&group_by=label:user`;

describe('the usage of an account with more groups than JSON has', () => {
  it('is whole as CSV: every group once, in the order of their names, with all that was charged', async () => {
    const answer = await ask(usage, 'text/csv');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    const [header, ...rows] = (await answer.text()).trimEnd().split('\r\n');
    expect(header).toBe('label:user,jobs,billable_ms,charged_micros');
    const groups = rows.map((row) => row.split(',')[0] ?? '');
    expect(groups).toHaveLength(USERS + 1);
    expect(new Set(groups).size).toBe(USERS + 1);
    expect(groups.at(-1)).toBe('');
    expect(groups.slice(0, -1)).toEqual(groups.slice(0, -1).sort());
    const charged = rows.reduce((sum, row) => sum + Number(row.split(',')[3]), 0);
    expect(charged).toBe(USERS * (USERS + 1));
    expect(rows).toContain('user-1,2,10,2');
  });

  it('is cut as JSON, which says so and has the sum of all', async () => {
    const body = (await (await ask(usage)).json()) as { usage: unknown[]; total: object; truncated: boolean };
    expect(body.usage).toHaveLength(10_000);
    expect(body).toMatchObject({
      truncated: true,
      total: { jobs: 2 * (USERS + 1), charged_micros: USERS * (USERS + 1) },
    });
  });

  it('has a head without being read', async () => {
    const headers = { authorization: `Bearer ${account.key}`, accept: 'text/csv' };
    const answer = await fetch(`${api.publicUrl}/platform/v1${usage}`, { method: 'HEAD', headers });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(await answer.text()).toBe('');
  });
});

describe('sums that take longer than a statement may', () => {
  it.each([
    [usage, 'application/json'],
    [usage, 'text/csv'],
    [`/exports?${SPAN}`, 'application/json'],
  ])('are refused with the way to narrow them: %s as %s', async (path, accept) => {
    await api.test.database.transaction(async (tx) => {
      // No read of it ends while this is held.
      await tx.execute(Prisma.sql`LOCK TABLE usage_records IN ACCESS EXCLUSIVE MODE`);
      const answer = await ask(path, accept);
      expect([answer.status, answer.headers.get('content-type')]).toEqual([400, 'application/json; charset=utf-8']);
      const reason = expect.stringMatching(/Ask for parts of it, such as half of it, with `from` and `to`/) as string;
      const details = { fields: [{ field: 'from', reason }] };
      expect(await answer.json()).toMatchObject({ error: { code: 'invalid_request', details } });
    });
  });
});
