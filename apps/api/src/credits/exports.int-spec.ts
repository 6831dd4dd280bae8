import { gunzipSync } from 'node:zlib';
import { newId } from '@millrace/contracts';
import { onOneDay } from '@millrace/testing';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open();
  account = await api.account();
});
afterAll(() => api.close());

const DAY = '2026-03-14';
interface Day {
  day: string;
  complete: boolean;
  usage: { rows: number; charged_micros: number; url: string };
  ledger: { rows: number; url: string };
}

it('a day is listed and downloaded as CSV in gzip, from the addresses that the list names', async () => {
  const jobId = newId();
  const used = { status: 'succeeded', billableMs: 5n, chargedMicros: 5n, labels: { user: 'ada' } };
  await api.test.database.models.usageRecord.create({
    data: { jobId, accountId: account.id, finishedAt: new Date(`${DAY}T12:00:00Z`), ...used },
  });
  const client = api.client(account.key);
  const span = 'from=2026-03-13&to=2026-03-15';
  const { body } = await client.call<{ exports: Day[] }>('GET', `/platform/v1/exports?${span}`);
  expect(body.exports.map(({ day, complete, usage }) => [day, complete, usage.rows, usage.charged_micros])).toEqual([
    [DAY, true, 1, 5],
    ['2026-03-13', true, 0, 0],
  ]);
  for (const [url, header] of [
    [body.exports[0]?.usage.url, 'BilledCost,'],
    [body.exports[0]?.ledger.url, 'id,at,'],
  ] as const) {
    const answer = await fetch(api.publicUrl + new URL(url ?? '').pathname, {
      headers: { authorization: `Bearer ${account.key}` },
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/gzip']);
    const text = gunzipSync(Buffer.from(await answer.arrayBuffer())).toString();
    expect(text.startsWith(header)).toBe(true);
    expect(text.includes(jobId)).toBe(header === 'BilledCost,');
  }
});

it('today, a day that is none and too long a span are refused', async () => {
  await onOneDay();
  const client = api.client(account.key);
  const today = new Date().toISOString().slice(0, 10);
  for (const [path, status] of [
    [`/platform/v1/exports/${today}/usage.csv.gz`, 404],
    ['/platform/v1/exports/2026-02-30/ledger.csv.gz', 404],
    ['/platform/v1/exports?from=2026-01-01&to=2026-06-01', 400],
    ['/platform/v1/exports?from=2026-01-02&to=2026-01-01', 400],
  ] as const) {
    expect((await client.call('GET', path)).status).toBe(status);
  }
});
