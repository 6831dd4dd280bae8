import pg from 'pg';
import { Metrics } from '@millrace/platform';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import type { Statements } from './database';
import { MeasureTransactionsLoop } from './measure-transactions.loop';

/** Longer than the statement that measures takes. */
const OPEN_MS = 1_000;

let test: TestDatabase;
let other: pg.Client;
let metrics: Metrics;
beforeAll(async () => (test = await createTestDatabase()));
afterAll(() => test.drop());
beforeEach(async () => {
  metrics = new Metrics('maintenance');
  other = new pg.Client({ connectionString: test.url });
  await other.connect();
});
afterEach(() => other.end());

/** The loop's figure; undefined where there is none. */
async function measured(database: Statements = test.database): Promise<number | undefined> {
  await new MeasureTransactionsLoop(database, metrics).runOnce();
  return shown();
}

async function shown(): Promise<number | undefined> {
  const { values } = await metrics.oldestTransactionSeconds.get();
  return values[0]?.value;
}

const passes = (ms: number): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, ms));

describe('the age of the oldest transaction', () => {
  it('is that of one that does nothing but stay open, from its first statement on', async () => {
    expect(await measured()).toBeLessThan(OPEN_MS / 1_000);
    await other.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await other.query('SELECT FROM jobs');
    await passes(OPEN_MS);
    const age = await measured();
    expect(age).toBeGreaterThanOrEqual(OPEN_MS / 1_000);
    await passes(OPEN_MS / 10);
    expect(await measured()).toBeGreaterThan(age ?? Infinity);
    await other.query('COMMIT');
    expect(await measured()).toBeLessThan(OPEN_MS / 1_000);
  });

  it('counts one that has only written, and none of another database', async () => {
    const elsewhere = await createTestDatabase();
    await other.query('BEGIN');
    await other.query('UPDATE pools SET virtual_time = virtual_time WHERE false');
    await other.query('SELECT pg_current_xact_id()');
    await passes(OPEN_MS);
    expect(await measured()).toBeGreaterThanOrEqual(OPEN_MS / 1_000);
    expect(await measured(elsewhere.database)).toBeLessThan(OPEN_MS / 1_000);
    await other.query('ROLLBACK');
    await elsewhere.drop();
  });

  it('is not shown any more when it could not be read', async () => {
    await measured();
    expect(await shown()).toBeDefined();
    const broken = { query: () => Promise.reject(new Error('away')) } as unknown as Statements;
    await expect(measured(broken)).rejects.toThrow('away');
    expect(await shown()).toBeUndefined();
  });
});
