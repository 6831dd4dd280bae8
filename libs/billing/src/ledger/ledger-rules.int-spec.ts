import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { ConstraintError } from '@millrace/database';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';

let test: TestDatabase;
let accountId: string;
beforeAll(async () => {
  test = await createTestDatabase();
  accountId = await makeAccount(test.database, { micros: 1_000_000n });
});
afterAll(() => test.drop());

const NOTHING = Prisma.sql`NULL`;
const ANY_ID = Prisma.sql`gen_random_uuid()`;
const SOON = Prisma.sql`now() + interval '1 day'`;

/** A posting that no rule allows, by the name of the rule: its kind, its job, what it corrects, and when it expires. */
const POSTINGS: [string, string, Prisma.Sql, Prisma.Sql, Prisma.Sql][] = [
  ['ledger_transactions_kind_check', 'gift', NOTHING, NOTHING, NOTHING],
  ['ledger_transactions_job_check', 'hold', NOTHING, NOTHING, NOTHING],
  ['ledger_transactions_job_check', 'grant', ANY_ID, NOTHING, NOTHING],
  ['ledger_transactions_corrects_check', 'grant', NOTHING, ANY_ID, NOTHING],
  ['ledger_transactions_corrects_check', 'correction', ANY_ID, NOTHING, NOTHING],
  ['ledger_transactions_expires_check', 'top_up', NOTHING, NOTHING, SOON],
];

/** The same of an entry: the books that it moves credits between, and how many. */
const ENTRIES: [string, string, string, number][] = [
  ['ledger_entries_books_check', 'available', 'available', 1],
  ['ledger_entries_books_check', 'pocket', 'available', 1],
  ['ledger_entries_books_check', 'available', 'pocket', 1],
  ['ledger_entries_amount_check', 'available', 'held', 0],
];

describe('the rules of the ledger', () => {
  it('are kept by the database, which names the one that a posting would break', async () => {
    for (const [rule, kind, job, corrects, expires] of POSTINGS) {
      const insert = test.database.execute(Prisma.sql`
        INSERT INTO ledger_transactions (id, account_id, kind, job_id, corrects, expires_at, cause, actor)
        VALUES (${newId()}::uuid, ${accountId}::uuid, ${kind}, ${job}, ${corrects}, ${expires}, ${newId()}, 'test')`);
      await expect(insert).rejects.toEqual(new ConstraintError('check', rule));
    }
  });

  it('are kept by the database, which names the one that an entry would break', async () => {
    for (const [rule, from, to, micros] of ENTRIES) {
      const insert = test.database.execute(Prisma.sql`
        INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
        SELECT id, 9, ${from}, ${to}, ${micros} FROM ledger_transactions WHERE account_id = ${accountId}::uuid`);
      await expect(insert).rejects.toEqual(new ConstraintError('check', rule));
    }
  });
});
