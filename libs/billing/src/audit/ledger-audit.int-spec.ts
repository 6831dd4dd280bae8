import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { Metrics, createLogger, type Finding } from '@millrace/platform';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { LedgerDaysStore } from '../ledger';
import { AuditLedgerLoop } from './audit-ledger.loop';
import { AuditProgressStore } from './audit-progress.store';
import { AuditSpanStore } from './audit-span.store';
import { LedgerAudit } from './ledger-audit';
import { LedgerAuditStore } from './ledger-audit.store';

const JOBS = 1_000;
/** Transactions of a span: the large account has 2,000 and the grant. */
const AT_ONCE = 400;
const GIVEN = 1_000_000_000n;

let test: TestDatabase;
let large: string;
let small: string[];
beforeEach(async () => {
  test = await createTestDatabase(3);
  small = [];
  for (let nth = 0; nth < 3; nth += 1) small.push(await makeAccount(test.database, { micros: GIVEN }));
  large = await makeAccount(test.database, { micros: GIVEN });
  await useCredits(large, JOBS);
  await test.database.execute(Prisma.sql`ANALYZE`);
});
afterEach(() => test.drop());

/** What jobs of the last month left in the books: each a hold of 30, a charge of 10, and a usage record. */
async function useCredits(accountId: string, jobs: number): Promise<void> {
  await tamper(
    Prisma.sql`CREATE TEMPORARY TABLE ended ON COMMIT DROP AS
      SELECT gen_random_uuid() AS job, gen_random_uuid() AS hold, gen_random_uuid() AS settle,
        now() - interval '31 d' + n * interval '30 d' / ${jobs} AS at FROM generate_series(1, ${jobs}) n`,
    Prisma.sql`INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, actor, at)
      SELECT hold, ${accountId}::uuid, 'hold', job, 'job:' || job || ':hold', 'test', at FROM ended
      UNION ALL SELECT settle, ${accountId}::uuid, 'settle', job, 'job:' || job || ':end', 'test', at + interval '1 h' FROM ended`,
    Prisma.sql`INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
      SELECT hold, 1, 'available', 'held', 30 FROM ended
      UNION ALL SELECT settle, 1, 'held', 'revenue', 10 FROM ended
      UNION ALL SELECT settle, 2, 'held', 'available', 20 FROM ended`,
    Prisma.sql`INSERT INTO usage_records (job_id, account_id, status, billable_ms, charged_micros, finished_at)
      SELECT job, ${accountId}::uuid, 'succeeded', 10, 10, at + interval '1 h' FROM ended`,
    Prisma.sql`UPDATE balances SET available_micros = available_micros - ${10 * jobs},
      consumed_micros = consumed_micros + ${10 * jobs} WHERE account_id = ${accountId}::uuid`,
  );
}

/** Run statements as a superuser who gets past every trigger and foreign key. */
async function tamper(...statements: Prisma.Sql[]): Promise<void> {
  await test.database.transaction(async (tx) => {
    await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
    for (const statement of statements) await tx.execute(statement);
  });
}

const newAudit = (atOnce = AT_ONCE): LedgerAudit =>
  new LedgerAudit(test.database, new AuditSpanStore(atOnce), new LedgerAuditStore());

async function findings(audit = newAudit()): Promise<Finding[]> {
  const found: Finding[] = [];
  for await (const finding of audit.findings()) found.push(finding);
  return found;
}

/** The loop of a process that has just started. */
function newLoop(): { loop: AuditLedgerLoop; metrics: Metrics } {
  const metrics = new Metrics('test');
  const logger = createLogger('test', 'silent');
  return { loop: new AuditLedgerLoop(test.database, newAudit(), new AuditProgressStore(), metrics, logger), metrics };
}

const valueOf = async (gauge: Metrics['ledgerFindings']): Promise<number | undefined> =>
  (await gauge.get()).values[0]?.value;
const progress = (): Promise<{ transactions: bigint } | null> => test.database.models.ledgerAuditProgress.findFirst();

describe('the audit of an account with many movements', () => {
  it('reads them in parts, finds nothing where nothing is wrong, and the same as in one', async () => {
    expect(await findings()).toEqual([]);
    expect(await findings(newAudit(1_000_000))).toEqual([]);
  });

  it('finds what is wrong in the middle of them, and at their sum', async () => {
    await tamper(
      Prisma.sql`UPDATE ledger_entries SET amount_micros = 11 WHERE to_book = 'revenue' AND transaction_id = (
        SELECT id FROM ledger_transactions WHERE account_id = ${large}::uuid AND kind = 'settle'
        ORDER BY at OFFSET ${JOBS / 2} LIMIT 1)`,
    );
    const found = (await findings()).map(({ check }) => check);
    expect([...new Set(found)].sort()).toEqual(['balance-is-sum', 'hold-ends-whole', 'usage-is-charged']);
  });

  it('finds usage that nobody was charged for, and credits that nobody paid for, once each', async () => {
    const id = newId();
    await tamper(
      Prisma.sql`INSERT INTO usage_records (job_id, account_id, status, billable_ms, charged_micros, finished_at)
        VALUES (gen_random_uuid(), ${large}::uuid, 'succeeded', 10, 10, now() - interval '10 d')`,
      Prisma.sql`INSERT INTO ledger_transactions (id, account_id, kind, cause, actor, at)
        VALUES (${id}::uuid, ${large}::uuid, 'top_up', 'a gift', 'test', now() - interval '20 d')`,
      Prisma.sql`INSERT INTO ledger_entries VALUES (${id}::uuid, 1, 'payments', 'available', 5)`,
      Prisma.sql`INSERT INTO credit_lots (transaction_id, account_id, remaining_micros) VALUES (${id}::uuid, ${large}::uuid, 5)`,
      Prisma.sql`UPDATE balances SET available_micros = available_micros + 5 WHERE account_id = ${large}::uuid`,
    );
    const found = (await findings()).map(({ check }) => check);
    expect(found.sort()).toEqual(['top-up-is-paid', 'usage-is-charged']);
  });
});

describe('the closed days of an account', () => {
  const days = new LedgerDaysStore();
  beforeEach(async () => {
    while (await days.closeNext(test.database, large));
  });

  it('are what their entries sum to', async () => {
    expect(await test.database.models.ledgerDay.count()).toBeGreaterThan(20);
    expect(await findings()).toEqual([]);
  });

  it.each([
    [
      'has another line',
      Prisma.sql`UPDATE ledger_days SET grants_micros = grants_micros + 1, closing_micros = closing_micros + 1
      WHERE ends = (SELECT max(ends) FROM ledger_days)`,
      1,
    ],
    [
      'closes with another sum, and the one after it goes on from the right one',
      Prisma.sql`UPDATE ledger_days SET closing_micros = closing_micros + 1
      WHERE ends = (SELECT ends FROM ledger_days ORDER BY ends OFFSET 10 LIMIT 1)`,
      2,
    ],
    [
      'is missing',
      Prisma.sql`DELETE FROM ledger_days
      WHERE ends = (SELECT ends FROM ledger_days ORDER BY ends OFFSET 10 LIMIT 1)`,
      2,
    ],
  ])('are found where one %s', async (_fault, fault, count) => {
    await tamper(fault);
    expect((await findings()).map(({ check, subject }) => [check, subject])).toEqual(
      Array.from({ length: count }, () => ['closed-day-is-sum', large]),
    );
  });
});

describe('a round of the audit', () => {
  it('goes on after a restart where it was, and says how far it got', async () => {
    let steps = 0;
    let metrics: Metrics;
    for (let more = true; more; steps += 1) {
      const started = newLoop();
      metrics = started.metrics;
      more = (await started.loop.runOnce()) > 0;
      if (more) expect((await progress())?.transactions).toBe(BigInt((await valueOf(metrics.ledgerAudited)) ?? -1));
    }
    // The accounts that were made first, together; the parts of the large one; and the end of the round.
    expect(steps).toBe(1 + Math.ceil((2 * JOBS + 1) / AT_ONCE) + 1);
    expect(await valueOf(metrics!.ledgerAudited)).toBe(2 * JOBS + 1 + small.length);
    expect(await valueOf(metrics!.ledgerFindings)).toBe(0);
    expect((await progress())?.transactions).toBe(0n);
  });

  it('counts what it found before a restart', async () => {
    await tamper(
      Prisma.sql`UPDATE balances SET available_micros = available_micros + 7 WHERE account_id = ${small[0]}::uuid`,
    );
    await newLoop().loop.runOnce();
    const { loop, metrics } = newLoop();
    await loop.runOnce();
    // A wrong sum of the balance, and of its lots.
    expect(await valueOf(metrics.ledgerFindings)).toBe(2);
  });
});
