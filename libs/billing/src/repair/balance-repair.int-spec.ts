import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { AuditSpanStore, LedgerAuditStore } from '../audit';
import { BalanceRepair, type Rebuild } from './balance-repair';
import { RepairStore } from './repair.store';

let test: TestDatabase;
beforeEach(async () => {
  test = await createTestDatabase(2);
});
afterEach(() => test.drop());

async function tamper(...statements: Prisma.Sql[]): Promise<void> {
  await test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    for (const statement of statements) await tx.execute(statement);
  });
}

/** Grants of an hour ago and earlier, which no lot and no balance has, and a hold of a job that is no more after each. */
async function makeLedger(accountId: string, count: number): Promise<void> {
  for (let nth = 0; nth < count; nth += 1) {
    const [grant, hold, job] = [newId(), newId(), newId()];
    const at = Prisma.sql`now() - make_interval(hours => ${nth + 1}::int)`;
    await tamper(
      Prisma.sql`INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, actor, at) VALUES
        (${grant}::uuid, ${accountId}::uuid, 'grant', NULL, ${grant}, 'test', ${at}),
        (${hold}::uuid, ${accountId}::uuid, 'hold', ${job}::uuid, ${hold}, 'test', ${at})`,
      Prisma.sql`INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros) VALUES
        (${grant}::uuid, 1, 'promotions', 'available', 100), (${hold}::uuid, 1, 'available', 'held', 30)`,
    );
  }
}

function rebuildOf(accountId: string, atOnce: number): Promise<Rebuild> {
  const repair = new BalanceRepair(
    test.database,
    new AuditSpanStore(atOnce),
    new LedgerAuditStore(),
    new RepairStore(),
  );
  return repair.read(accountId).then((read) => test.database.transaction((tx) => repair.rebuild(tx, read, 'admin')));
}

it('has all of a ledger that is read in parts: its sums, what brought credits, and holds without an end', async () => {
  const accountId = await makeAccount(test.database, { micros: 5n });
  await makeLedger(accountId, 5);
  const rebuild = await rebuildOf(accountId, 3);
  expect(rebuild).toMatchObject({ isChanged: true, after: { availableMicros: 505n, heldMicros: 0n } });
  expect([rebuild.lots.length, rebuild.ended.length]).toEqual([5, 5]);
  expect(await rebuildOf(accountId, 1_000)).toMatchObject({ isChanged: false });
});

it('makes the balance of an account that has none, though it has movements, and then changes nothing', async () => {
  const accountId = await makeAccount(test.database, { micros: 5n });
  await tamper(Prisma.sql`DELETE FROM balances`);
  expect(await rebuildOf(accountId, 3)).toMatchObject({
    isChanged: true,
    before: { availableMicros: 0n },
    after: { availableMicros: 5n, heldMicros: 0n, consumedMicros: 0n, drawnMicros: 0n },
  });
  expect(await test.database.models.balance.findMany()).toMatchObject([{ accountId, availableMicros: 5n }]);
  expect(await rebuildOf(accountId, 3)).toMatchObject({ isChanged: false });
});

it('changes nothing of an account that never had credits, and makes it no balance', async () => {
  const accountId = await makeAccount(test.database);
  expect(await rebuildOf(accountId, 3)).toMatchObject({ isChanged: false, after: { availableMicros: 0n } });
  expect(await test.database.models.balance.count()).toBe(0);
});
