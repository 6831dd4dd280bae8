import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { Metrics, createLogger, type Finding } from '@millrace/platform';
import { createTestDatabase, makeAccount, readingRows, type TestDatabase } from '@millrace/testing';
import { LedgerDaysStore } from '../ledger';
import { AuditLedgerLoop } from './audit-ledger.loop';
import { AuditProgressStore } from './audit-progress.store';
import { NOTHING, START, type AuditPosition } from './audit-span';
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

/** What jobs of a time, the last month, left in the books: each a hold of 30, a charge of 10, and a usage record. */
async function useCredits(
  accountId: string,
  jobs: number,
  { since, span } = { since: Prisma.sql`now() - interval '31 d'`, span: Prisma.sql`interval '30 d'` },
): Promise<void> {
  await tamper(
    Prisma.sql`CREATE TEMPORARY TABLE ended ON COMMIT DROP AS
      SELECT gen_random_uuid() AS job, gen_random_uuid() AS hold, gen_random_uuid() AS settle,
        ${since} + n * ${span} / ${jobs} AS at FROM generate_series(1, ${jobs}) n`,
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
function newLoop(atOnce = AT_ONCE): { loop: AuditLedgerLoop; metrics: Metrics } {
  const metrics = new Metrics('test');
  const logger = createLogger('test', 'silent');
  return {
    loop: new AuditLedgerLoop(test.database, newAudit(atOnce), new AuditProgressStore(), metrics, logger),
    metrics,
  };
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

it.each([
  ['ends where nothing is committed any more', '10 minutes 5 seconds', true],
  ['has no end where a transaction may still be under way', '9 minutes 30 seconds', false],
])('a part of an account %s', async (_, ago, ends) => {
  const at = Prisma.sql`now() - ${ago}::interval`;
  const id = newId();
  await tamper(
    Prisma.sql`INSERT INTO ledger_transactions (id, account_id, kind, cause, actor, at) VALUES (${id}::uuid, ${large}::uuid, 'grant', 'a part', 'test', ${at})`,
  );
  const { at: last } = await test.database.models.ledgerTransaction.findUniqueOrThrow({ where: { id } });
  const [first] = await test.database.rows<{ at: Date }>(Prisma.sql`
    SELECT max(t.at) AS at FROM ledger_transactions t WHERE t.account_id = ${large}::uuid AND t.at < ${last}::timestamptz`);
  const part = { reachedAt: first?.at ?? new Date(0), sums: NOTHING, day: null };
  const span = await new AuditSpanStore(1).partOf(test.database, large, part);
  expect(span.until).toEqual(ends ? last : null);
});

describe('an account with movements whose balance is gone', () => {
  it.each(['small', 'large'])('is found where it is %s, and nothing else is', async (size) => {
    const accountId = size === 'large' ? large : (small[1] ?? '');
    await tamper(Prisma.sql`DELETE FROM balances WHERE account_id = ${accountId}::uuid`);
    expect((await findings()).map(({ check, subject }) => [check, subject])).toEqual([['balance-exists', accountId]]);
  });

  it('is looked for without reading all movements', async () => {
    await tamper(Prisma.sql`DELETE FROM balances`);
    await test.database.transaction(async (tx) => {
      await tx.execute(Prisma.sql`SET LOCAL enable_seqscan = off`);
      const spans = new AuditSpanStore(2);
      const { result, rows } = await readingRows(tx, 'ledger_transactions', () => spans.next(tx, START, 2));
      expect(result?.accountIds).toEqual([...small, large].sort().slice(0, 2));
      // The next account is asked for twice, and its movements are counted up to three.
      expect(rows).toBeLessThanOrEqual(2 * (1 + 3));
    });
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

describe('an account with a day of many movements', () => {
  const JOBS_OF_DAY = 1_000;
  const TRANSACTIONS_OF_DAY = 2 * JOBS_OF_DAY;
  /** The day has 20 parts. */
  const PART = 100;
  let busy: string;
  beforeEach(async () => {
    busy = await makeAccount(test.database, { micros: GIVEN });
    await useCredits(busy, JOBS_OF_DAY, {
      since: Prisma.sql`date_trunc('day', now(), 'UTC') - interval '2 d'`,
      span: Prisma.sql`interval '20 h'`,
    });
    const days = new LedgerDaysStore();
    while (await days.closeNext(test.database, busy));
    await tamper(Prisma.sql`
      INSERT INTO export_deliveries (account_id, day, state, location, usage_rows, usage_micros, ledger_rows, ledger_micros, usage_sha256, ledger_sha256)
      VALUES (${busy}::uuid, (now() AT TIME ZONE 'UTC')::date - 2, 'delivered', 'a place', ${JOBS_OF_DAY}, ${10 * JOBS_OF_DAY}, ${TRANSACTIONS_OF_DAY},
        ${10 * JOBS_OF_DAY}, '', '')`);
    await test.database.execute(Prisma.sql`ANALYZE`);
  });
  const findingsOfDay = async (audit = newAudit(PART)): Promise<string[]> =>
    (await findings(audit))
      .filter(({ check }) => ['closed-day-is-sum', 'delivered-export-is-of-the-ledger'].includes(check))
      .map(({ check }) => check);

  it('is read once: no part reads again what those before it have read', async () => {
    const perStep: number[] = [];
    let position: AuditPosition | null = {
      accountId: busy,
      part: { reachedAt: new Date(0), sums: NOTHING, day: null },
    };
    while (position?.part) {
      const from: AuditPosition = position;
      position = await test.database.transaction(async (tx) => {
        await tx.execute(Prisma.sql`SET LOCAL enable_seqscan = off`);
        const audit = new LedgerAudit(tx, new AuditSpanStore(PART), new LedgerAuditStore());
        const { result, rows } = await readingRows(tx, 'ledger_transactions', () => audit.step(from));
        perStep.push(rows);
        return result.next;
      });
    }
    expect(perStep.length).toBeGreaterThan(TRANSACTIONS_OF_DAY / PART);
    expect(Math.max(...perStep)).toBeLessThan(TRANSACTIONS_OF_DAY);
  });

  it('has its closed day and its export compared with all of it', async () => {
    expect(await findingsOfDay()).toEqual([]);
    await tamper(
      Prisma.sql`UPDATE ledger_days SET charges_micros = charges_micros + 1, closing_micros = closing_micros + 1
        WHERE account_id = ${busy}::uuid AND charges_micros <> 0`,
    );
    expect(await findingsOfDay()).toEqual(['closed-day-is-sum']);
    await tamper(Prisma.sql`UPDATE export_deliveries SET usage_rows = usage_rows - 1`);
    expect((await findingsOfDay()).sort()).toEqual(['closed-day-is-sum', 'delivered-export-is-of-the-ledger']);
  });

  it('is compared after restarts, and not where an earlier version read a part of it', async () => {
    const round = async (between: () => Promise<unknown>): Promise<number | undefined> => {
      for (;;) {
        const { loop, metrics } = newLoop(PART);
        if ((await loop.runOnce()) === 0) return valueOf(metrics.ledgerFindings);
        await between();
      }
    };
    await tamper(Prisma.sql`UPDATE export_deliveries SET ledger_rows = ledger_rows + 1`);
    expect(await round(() => Promise.resolve())).toBe(1);
    const forget = Prisma.sql`UPDATE ledger_audit_progress SET day_sums = NULL`;
    expect(await round(() => test.database.execute(forget))).toBe(0);
  });
});

describe('an account that cannot be read in the time of a statement', () => {
  let ids: string[];
  beforeEach(() => {
    ids = [...small, large].sort();
  });
  /** An audit of all accounts together, whose reads of some of them fail. @param fails how often. */
  function failingAudit(slow: string, fails: number): { audit: LedgerAudit; spans: string[][] } {
    const store = new LedgerAuditStore();
    const sum = store.sum.bind(store);
    const spans: string[][] = [];
    jest.spyOn(store, 'sum').mockImplementation((tx, span) => {
      spans.push(span.accountIds);
      if (span.accountIds.includes(slow) && (fails -= 1) >= 0) throw new Error('Query read timeout');
      return sum(tx, span);
    });
    return { audit: new LedgerAudit(test.database, new AuditSpanStore(1_000_000), store), spans };
  }

  it('is no finding where the next try reads it', async () => {
    const { audit, spans } = failingAudit(ids[1] ?? '', 3);
    expect(await findings(audit)).toEqual([]);
    const [first, second] = ids.map((id) => [id]);
    // Together; then one by one, the second three times; nothing is skipped.
    expect(spans).toEqual([ids, first, second, second, second, ...ids.slice(2).map((id) => [id])]);
  });

  it('is a finding after three tries in a row, alone, and keeps no account behind it from its audit', async () => {
    const [, slow, behind] = ids;
    await tamper(
      Prisma.sql`UPDATE balances SET available_micros = available_micros + 7 WHERE account_id = ${behind}::uuid`,
    );
    const { audit } = failingAudit(slow ?? '', Infinity);
    expect((await findings(audit)).map(({ check, subject }) => [check, subject])).toEqual([
      ['ledger-is-readable', slow],
      ['balance-is-sum', behind],
      ['lots-are-balance', behind],
    ]);
  });

  it('fails the run of the loop, which keeps its position, before it is a finding', async () => {
    const { audit } = failingAudit(ids[0] ?? '', Infinity);
    const metrics = new Metrics('test');
    const logger = createLogger('test', 'silent');
    const loop = new AuditLedgerLoop(test.database, audit, new AuditProgressStore(), metrics, logger);
    // The span of all, and the first account alone.
    for (let run = 0; run < 1 + 2; run += 1) await expect(loop.runOnce()).rejects.toThrow('timeout');
    expect(await progress()).toBeNull();
    expect(await valueOf(metrics.ledgerFindings)).toBe(0);
    expect(await loop.runOnce()).toBe(1);
    expect(await valueOf(metrics.ledgerFindings)).toBe(1);
    expect(await progress()).toMatchObject({ accountId: ids[0] });
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

  it('logs a payment without its order, which may be of another installation, and counts it for no alert', async () => {
    const event = { provider: 'stripe', id: 'evt_other', kind: 'paid', topUpId: newId() };
    await test.database.models.paymentEvent.create({ data: event });
    const metrics = new Metrics('test');
    const logger = createLogger('test', 'silent');
    const logged = jest.spyOn(logger, 'error');
    const audit = newAudit(1_000_000);
    const loop = new AuditLedgerLoop(test.database, audit, new AuditProgressStore(), metrics, logger);
    for (let more = true; more;) more = (await loop.runOnce()) > 0;
    const finding: unknown = expect.objectContaining({ check: 'payment-has-its-order', subject: event.topUpId });
    expect(logged.mock.calls).toEqual([[{ finding }, expect.any(String)]]);
    expect(await findings(audit)).toEqual([finding]);
    expect(await valueOf(metrics.ledgerFindings)).toBe(0);
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
