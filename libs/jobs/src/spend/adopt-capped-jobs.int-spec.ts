import { Prisma } from '@prisma/client';
import { createTestDatabase, makeAccount, makePool, onOneDay, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { LabelRuleStore } from '../labels';
import { AdoptCappedJobsLoop } from './adopt-capped-jobs.loop';
import { SpendCapStore } from './spend-cap.store';

/** More than any page. */
const CAPS = 1_100;
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(() => onOneDay());
afterAll(() => test.drop());

it('jobs are counted by every cap that is new, however many there are', async () => {
  const { database } = test;
  const accountId = await makeAccount(database, { micros: 1_000_000n });
  const { poolId } = await makePool(database);
  await new JobWorld(test, { accountId, poolId }).submit({ holdMicros: 7n });
  await database.execute(Prisma.sql`
    INSERT INTO label_rules (id, account_id, label, value, daily_micros)
    SELECT gen_random_uuid(), ${accountId}::uuid, '@key', gen_random_uuid(), 1 FROM generate_series(1, ${CAPS}::int)`);
  await database.execute(Prisma.sql`
    INSERT INTO label_rules (id, account_id, label, value, daily_micros) VALUES (${LAST_ID}::uuid, ${accountId}::uuid, '@account', '', 1)`);
  const loop = new AdoptCappedJobsLoop(database, new SpendCapStore());
  for (let runs = 0; runs < CAPS && (await loop.runOnce()) > 0;) runs += 1;
  const use = await new LabelRuleStore().use(database, accountId, '@account', '');
  expect(use).toMatchObject({ live: 1, heldMicros: 7n });
});
