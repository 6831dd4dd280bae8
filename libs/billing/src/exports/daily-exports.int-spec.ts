import { Prisma } from '@prisma/client';
import { Refusal } from '@millrace/contracts';
import { createTestDatabase, makeAccount, testBilling, type TestDatabase } from '@millrace/testing';
import { DailyExports, type Dataset } from './daily-exports.service';
import { ExportStore } from './export.store';

const DAY = '2026-03-14';
const NOON = new Date(`${DAY}T12:00:00.000Z`);
const AFTER = new Date('2026-03-15T00:10:00.000Z');
/** More than one page. */
const MANY = 2_300;

let test: TestDatabase;
let accountId: string;
beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(async () => {
  accountId = await makeAccount(test.database);
});
afterAll(() => test.drop());

const exportsAt = (now: Date): DailyExports => new DailyExports(test.database, new ExportStore(), now);
/** The rows of a file, without the quotes of CSV: no value here has a comma but the tags. */
async function fileOf(dataset: Dataset, day = DAY, now = AFTER): Promise<string[]> {
  let text = '';
  await exportsAt(now).send(accountId, day, dataset, async (parts) => {
    for await (const part of parts) text += part;
  });
  expect(text.endsWith('\r\n')).toBe(true);
  return text.slice(0, -2).split('\r\n');
}

/** Jobs that were charged `micros` each at a time, with what the ledger has of it. */
async function charge(count: number, micros: bigint, at = NOON, labels: object = {}): Promise<void> {
  await test.database.execute(Prisma.sql`
    WITH job AS (SELECT gen_random_uuid() AS id, gen_random_uuid() AS transaction_id FROM generate_series(1, ${count}::int)),
    account AS (INSERT INTO balances (account_id) VALUES (${accountId}::uuid) ON CONFLICT DO NOTHING),
    usage AS (
      INSERT INTO usage_records (job_id, account_id, status, billable_ms, charged_micros, labels, finished_at)
      SELECT id, ${accountId}::uuid, 'succeeded', 1500, ${micros}, ${JSON.stringify(labels)}::jsonb, ${at} FROM job),
    made AS (
      INSERT INTO ledger_transactions (id, account_id, kind, job_id, cause, actor, at)
      SELECT transaction_id, ${accountId}::uuid, 'settle', id, 'job:' || id || ':end', 'lifecycle', ${at} FROM job)
    INSERT INTO ledger_entries (transaction_id, line, from_book, to_book, amount_micros)
    SELECT transaction_id, 1, 'held', 'revenue', ${micros}::bigint FROM job UNION ALL
    SELECT transaction_id, 2, 'held', 'available', 7 FROM job`);
}

it('a day of usage has a row for each job, in the columns of FOCUS', async () => {
  await charge(1, 1_234_567n, NOON, { user: '=ada', shot: '7' });
  const [header = '', row = '', ...more] = await fileOf('usage');
  expect(more).toEqual([]);
  for (const column of [
    'BilledCost',
    'BillingAccountId',
    'BillingCurrency',
    'ChargePeriodStart',
    'ConsumedQuantity',
    'ServiceName',
    'Tags',
  ]) {
    expect(header.split(',')).toContain(column);
  }
  expect(row).toContain('1.234567,');
  expect(row).toContain(`,${accountId},CREDIT,2026-03-01T00:00:00.000Z,2026-04-01T00:00:00.000Z,Usage,`);
  expect(row).toContain('"{""shot"":""7"",""user"":""=ada""}",1234567,succeeded,2026-03-14T12:00:00.000Z');
});

it('has all of many pages once, though they ended at the same moment, and adds up to what the ledger charged', async () => {
  await charge(MANY, 3n);
  await charge(1, 5n, new Date(`${DAY}T00:00:00.000Z`));
  await charge(1, 5n, new Date(`${DAY}T23:59:59.999Z`));
  await charge(1, 1_000n, new Date('2026-03-13T23:59:59.999Z'));
  await charge(1, 1_000n, new Date('2026-03-15T00:00:00.000Z'));
  const [usage, ledger] = [await fileOf('usage'), await fileOf('ledger')];
  const column = (lines: string[], name: string): string[] => {
    const at = (lines[0] ?? '').split(',').indexOf(name);
    return lines.slice(1).map((line) => line.split(',')[at] ?? '');
  };
  const sum = (values: string[]): bigint => values.reduce((total, value) => total + BigInt(value), 0n);
  expect(new Set(column(usage, 'ResourceId')).size).toBe(MANY + 2);
  expect(new Set(column(ledger, 'id')).size).toBe(MANY + 2);
  const micros = BigInt(MANY) * 3n + 10n;
  expect(sum(column(usage, 'x_ChargedMicros'))).toBe(micros);
  expect(sum(column(ledger, 'charged_micros'))).toBe(micros);
  expect(sum(column(ledger, 'held_micros'))).toBe(-micros - 7n * BigInt(MANY + 2));
  const days = await exportsAt(AFTER).list(
    accountId,
    new Date('2026-03-13T00:00:00Z'),
    new Date('2026-03-16T00:00:00Z'),
  );
  expect(
    days.map(({ day, isComplete, usageMicros, ledgerMicros, usageRows }) => [
      day,
      isComplete,
      usageMicros,
      ledgerMicros,
      usageRows,
    ]),
  ).toEqual([
    ['2026-03-15', false, 1_000n, 1_000n, 1],
    [DAY, true, micros, micros, MANY + 2],
    ['2026-03-13', true, 1_000n, 1_000n, 1],
  ]);
  expect(await fileOf('usage')).toEqual(usage);
});

it("is the account's alone, and empty but for its header where nothing happened", async () => {
  await charge(3, 5n);
  accountId = await makeAccount(test.database);
  expect(await fileOf('usage')).toHaveLength(1);
  expect(await fileOf('ledger')).toHaveLength(1);
});

it('cannot be read before nothing more is posted to it, nor of a day that is none', async () => {
  for (const [day, now] of [
    [DAY, new Date('2026-03-15T00:09:59.999Z')],
    [DAY, NOON],
    ['2026-02-30', AFTER],
  ] as const) {
    await expect(fileOf('usage', day, now)).rejects.toThrow(Refusal);
  }
});

it('the audit finds a charge that is of another day than its usage', async () => {
  const { audit } = testBilling(test.database);
  await charge(1, 5n);
  await test.database.execute(Prisma.sql`
    UPDATE usage_records SET finished_at = finished_at + interval '13 hours' WHERE account_id = ${accountId}::uuid`);
  const found: string[] = [];
  for await (const { check } of audit.findings()) found.push(check);
  expect(found).toContain('usage-is-of-the-day-of-its-charge');
});
