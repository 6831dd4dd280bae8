import { get } from 'node:http';
import { once } from 'node:events';
import { AccountAuditLog } from '@millrace/accounts';
import { DailyExports } from '@millrace/billing';
import { eventually } from '@millrace/testing';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

let api: RunningApi;
let account: TestAccount;
beforeAll(async () => {
  api = await RunningApi.open();
  account = await api.account();
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => api.close());

/** More than any connection takes in advance. */
async function* endless<T>(part: T): AsyncGenerator<T> {
  for (;;) yield await Promise.resolve(part);
}

const PAGE = Array.from({ length: 500 }, () => ({
  id: '01940000-0000-7000-8000-000000000000',
  at: new Date(),
  actor: 'operator',
  action: 'account.update',
  subjectType: 'account',
  subjectId: 'x',
  accountId: null,
  address: null,
  reason: null,
  details: {},
}));
const noSums = { rows: 0n, chargedMicros: 0n };

const DOWNLOADS = [
  {
    path: '/platform/v1/audit/export',
    makeEndless: () => {
      const log = AccountAuditLog.prototype as unknown as { pages: () => AsyncGenerator<unknown> };
      jest.spyOn(log, 'pages').mockImplementation(() => endless(PAGE));
    },
  },
  {
    path: '/platform/v1/exports/2026-01-01/usage.csv.gz',
    makeEndless: () => {
      const rows = Buffer.alloc(48_000, 7).toString('base64');
      jest
        .spyOn(DailyExports.prototype, 'file')
        .mockImplementation(() => Promise.resolve({ parts: endless(rows), sums: noSums }));
    },
  },
];

it.each(DOWNLOADS)('$path breaks off when the access of its reader ends', async ({ path, makeEndless }) => {
  const { key, keyId } = await api.key(account.id);
  makeEndless();
  const headers = { authorization: `Bearer ${key}` };
  const downloads = await Promise.all(
    Array.from({ length: 2 }, async () => {
      const sending = get(`${api.publicUrl}${path}`, { agent: false, headers });
      const [response] = (await once(sending, 'response')) as [{ statusCode: number }];
      expect(response.statusCode).toBe(200);
      return sending;
    }),
  );
  const client = api.client(account.key);
  const open = async () =>
    (await client.call<{ use: { event_streams: number } }>('GET', '/platform/v1/account')).body.use.event_streams;
  try {
    expect(await open()).toBe(2);
    expect((await client.call('DELETE', `/platform/v1/api-keys/${keyId}`)).status).toBe(204);
    await eventually('both downloads have ended', async () => (await open()) === 0);
    jest.restoreAllMocks();
    // As many as one account may read at a time had been open.
    expect((await client.call('GET', path)).status).toBe(200);
  } finally {
    for (const sending of downloads) sending.destroy();
  }
});
