import { Prisma } from '@prisma/client';
import pg from 'pg';
import { makeAccount } from '../../factories';
import { createTestDatabase, type TestDatabase } from '../../test-database';
import { spendSumsVerdict } from './spend-verdict';

let test: TestDatabase;
let client: pg.Client;
let accountId: string;
beforeAll(async () => {
  test = await createTestDatabase();
  client = new pg.Client({ connectionString: test.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await test.drop();
});
beforeEach(async () => {
  accountId = await makeAccount(test.database);
});

/** A job of a user was charged so much, at noon of a day. */
async function charge(user: string, micros: number, day: string): Promise<void> {
  await test.database.execute(Prisma.sql`
    INSERT INTO usage_records (job_id, account_id, status, billable_ms, charged_micros, labels, finished_at)
    VALUES (gen_random_uuid(), ${accountId}::uuid, 'succeeded', 1, ${micros}, jsonb_build_object('user', ${user}::text),
      (${day}::date + time '12:00') AT TIME ZONE 'UTC')`);
}

async function count(label: string, value: string, day: number, month = day): Promise<void> {
  const used = { accountId, label, value, day: new Date('2026-05-05'), dayMicros: day, monthMicros: month };
  await test.database.models.labelUse.create({ data: used });
}

const verdict = () => spendSumsVerdict(client, [accountId]);

describe('what caps count', () => {
  beforeEach(async () => {
    await charge('ada', 30, '2026-05-05');
    await charge('bob', 12, '2026-05-05');
  });

  it('is what was charged to the account, and by the value of a label', async () => {
    await count('@account', '', 42);
    await count('user', 'ada', 30);
    expect(await verdict()).toMatchObject({ checked: 2, breaches: [] });
  });

  it.each([
    ['today', [41, 42]],
    ['this month', [42, 43]],
  ] as const)('is found when it is wrong of %s', async (_, [day, month]) => {
    await count('@account', '', day, month);
    await count('user', 'ada', 30);
    const { breaches } = await verdict();
    expect(breaches).toEqual([expect.objectContaining({ subject: accountId })]);
    expect(breaches[0]?.detail).toContain(`${day} today and ${month} this month, usage has 42`);
  });

  it('is not looked at where a job ended on another day than the counter is of', async () => {
    await charge('ada', 1, '2026-05-04');
    await count('@account', '', 42);
    await count('user', 'bob', 12);
    expect(await verdict()).toMatchObject({ checked: 1, breaches: [] });
  });

  it('is nothing to be compared, and no failure, where jobs ended on another day than every counter is of', async () => {
    await charge('ada', 1, '2026-05-04');
    await count('@account', '', 42);
    expect(await verdict()).toMatchObject({ checked: null, breaches: [] });
  });

  it('proves nothing where nothing was counted', async () => {
    expect(await verdict()).toMatchObject({ checked: 0, breaches: [] });
  });
});
