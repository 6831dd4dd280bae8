import { Prisma } from '@prisma/client';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { AUDIT_LOG_FLOOR_SECONDS } from '../accounts.settings';
import { AuditLogStore } from './audit-log.store';
import { SweepAuditLogLoop } from './sweep-audit-log.loop';

const DAY_SECONDS = 86_400;

let test: TestDatabase;
const store = new AuditLogStore();
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

/** An entry of that age, in a segment of its own. Ids are in the order of time, as those of the service are. */
async function entry(name: string, ageSeconds: number): Promise<void> {
  await test.database.execute(Prisma.sql`
    INSERT INTO audit_log (id, at, actor, action, subject_type, subject_id)
    SELECT (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || right(md5(random()::text), 19))::uuid,
           at, 'admin', 'account.create', 'account', ${name}
    FROM (SELECT now() - make_interval(secs => ${ageSeconds}) AS at) made`);
  await test.database.execute(Prisma.sql`SELECT seal_audit_log(10, 0)`);
}
const names = async (): Promise<string[]> =>
  (await test.database.models.auditEntry.findMany({ orderBy: { id: 'asc' } })).map(({ subjectId }) => subjectId);

it('deletes the entries of the audit log that are past their retention, and no other', async () => {
  for (const [name, days] of Object.entries({ oldest: 404, older: 402, old: 401, kept: 399, new: 1 })) {
    await entry(name, days * DAY_SECONDS);
  }
  expect(await store.deleteOld(test.database, 400 * DAY_SECONDS, 1)).toBe(1);
  expect(await names()).toEqual(['older', 'old', 'kept', 'new']);
  const loop = new SweepAuditLogLoop(test.database, store, 400 * DAY_SECONDS);
  expect(await loop.runOnce()).toBe(2);
  expect(await loop.runOnce()).toBe(0);
  expect(await names()).toEqual(['kept', 'new']);
});

it('deletes what is older than the floor where the retention is the shortest that a setting may name', async () => {
  expect(await store.deleteOld(test.database, AUDIT_LOG_FLOOR_SECONDS, 1_000)).toBe(1);
  expect(await names()).toEqual(['new']);
});

it('cannot delete what is younger than the floor, however it is called', async () => {
  await entry('another', 60);
  const refused = { message: expect.stringContaining('90 days at least') as string };
  await expect(store.deleteOld(test.database, 0, 1_000)).rejects.toMatchObject(refused);
  await expect(test.database.execute(Prisma.sql`DELETE FROM audit_log`)).rejects.toMatchObject(refused);
  await expect(test.database.execute(Prisma.sql`UPDATE audit_log SET actor = 'nobody'`)).rejects.toMatchObject({
    message: expect.stringContaining('only appended to') as string,
  });
  expect(await names()).toEqual(['new', 'another']);
});
