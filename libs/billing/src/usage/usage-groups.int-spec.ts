import { Prisma } from '@prisma/client';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { LedgerReadsStore, LedgerStore } from '../ledger';
import { CreditReads } from './credit-reads.service';
import { USAGE_ROWS, type UsageRow } from './usage';
import { UsageStore } from './usage.store';

const USERS = USAGE_ROWS + 10;

let test: TestDatabase;
let accountId: string;
beforeEach(async () => {
  test = await createTestDatabase(2);
  accountId = await makeAccount(test.database);
  await addJobs(Prisma.sql`'user-' || lpad(n::text, 5, '0')`, USERS, Prisma.sql`now() - interval '1 d'`);
});
afterEach(() => test.drop());

async function addJobs(user: Prisma.Sql, count: number, at: Prisma.Sql): Promise<void> {
  await test.database.execute(Prisma.sql`
    INSERT INTO usage_records (job_id, account_id, status, billable_ms, charged_micros, labels, finished_at)
    SELECT gen_random_uuid(), ${accountId}::uuid, 'succeeded', 5, n, jsonb_build_object('user', ${user}), ${at}
    FROM generate_series(1, ${count}::int) n`);
}

const rename = (from: string, to: string): Promise<number> =>
  test.database.execute(Prisma.sql`UPDATE usage_records SET labels = jsonb_build_object('user', ${to}::text)
    WHERE labels ->> 'user' = ${from}::text`);

/** Read all pages of the table of users. @param meanwhile what happens after the first page. */
async function readAll(meanwhile: () => Promise<unknown>): Promise<UsageRow[]> {
  const reads = new CreditReads(test.database, new LedgerStore(), new LedgerReadsStore(), new UsageStore());
  const span = { from: new Date(Date.now() - 2 * 86_400_000), to: new Date(Date.now() + 86_400_000) };
  const all: UsageRow[] = [];
  for await (const rows of reads.usageGroups({ accountId, labels: null }, span, { by: 'label', label: 'user' })) {
    if (all.length === 0) await meanwhile();
    all.push(...rows);
  }
  return all;
}

describe('a table of usage that is read in pages', () => {
  it('is cut off where a job that was counted comes again under another name', async () => {
    await expect(readAll(() => rename('user-00001', 'z'))).rejects.toThrow('not whole: ask again');
  });

  it('is cut off where one job comes twice and another not at all', async () => {
    const both = (): Promise<unknown> =>
      Promise.all([rename('user-00001', 'z'), rename(`user-${USERS.toString().padStart(5, '0')}`, 'a')]);
    await expect(readAll(both)).rejects.toThrow('not whole: ask again');
  });

  it('is whole where jobs end meanwhile, in transactions that began up to ten minutes ago', async () => {
    const rows = await readAll(async () => {
      await addJobs(Prisma.sql`'a new user'`, 3, Prisma.sql`now()`);
      await addJobs(Prisma.sql`'z'`, 3, Prisma.sql`now() - interval '9 minutes'`);
    });
    expect(rows).toHaveLength(USERS + 1);
    expect(rows.at(-1)).toMatchObject({ group: 'z', jobs: 3 });
  });
});
