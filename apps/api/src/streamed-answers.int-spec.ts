import { Prisma } from '@prisma/client';
import type { BatchView } from '@millrace/contracts';
import { GRAPH, announceCatalogue } from './fixtures/own-records';
import { RunningApi, type TestAccount } from './fixtures/running-api';

let api: RunningApi;
let account: TestAccount;
let batchId: string;
beforeAll(async () => {
  api = await RunningApi.open();
  await announceCatalogue(api, api.env.MILLRACE_POOL ?? '');
  account = await api.account();
  const json = { workflow: GRAPH, table: { '1.color': [1] } };
  const { body } = await api.client(account.key).call<BatchView>('POST', '/api/v2/batches', { json });
  batchId = body.id;
});
afterAll(() => api.close());

const rename = (what: string, from: string, to: string): Promise<number> =>
  api.test.database.execute(Prisma.raw(`ALTER TABLE ${what} ${from} TO ${to}`));
const ask = async (path: string): Promise<Response> =>
  fetch(api.publicUrl + path.replace('{id}', batchId), {
    headers: { authorization: `Bearer ${account.key}`, accept: path.endsWith('/usage') ? 'text/csv' : '*/*' },
  });

describe('an answer that is made while it is read', () => {
  it.each([
    ['/api/v2/batches/{id}/results', 'job_outputs', 'RENAME', ''],
    ['/api/v2/batches/{id}/outputs.zip', 'job_outputs', 'RENAME', ''],
    ['/platform/v1/usage', 'usage_records', 'RENAME', ''],
    ['/platform/v1/exports/2026-03-14/usage.csv.gz', 'usage_records', 'RENAME', ''],
    ['/platform/v1/exports/2026-03-14/ledger.csv.gz', 'ledger_transactions', 'RENAME', ''],
    ['/platform/v1/audit/export', 'audit_log', 'RENAME COLUMN', 'details'],
    ['/platform/v1/audit/export?format=csv', 'audit_log', 'RENAME COLUMN', 'details'],
  ])('is the envelope where its first read fails: %s', async (path, table, how, column) => {
    // That the account exported its log is noted now, and not again when the log cannot be read.
    const whole = await ask(path);
    expect(whole.status).toBe(200);
    await whole.arrayBuffer();
    const [there, gone] = column === '' ? [table, `${table}_gone`] : [column, `${column}_gone`];
    await rename(table, column === '' ? how : `${how} ${there}`, gone);
    try {
      const answer = await ask(path);
      expect(answer.status).toBe(500);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(answer.headers.get('content-disposition')).toBeNull();
      expect(await answer.json()).toMatchObject({ error: { code: 'upstream_error' } });
    } finally {
      await rename(column === '' ? gone : table, column === '' ? how : `${how} ${gone}`, there);
    }
  });
});
