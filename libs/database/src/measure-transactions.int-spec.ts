import pg from 'pg';
import { Metrics } from '@millrace/platform';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import type { Statements } from './database';
import { MeasureTransactionsLoop } from './measure-transactions.loop';

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

/** How long the transaction of the other session has been open, in seconds, as that session knows. */
async function ageOfOther(): Promise<number> {
  const { rows } = await other.query<{ age: number }>(
    'SELECT extract(epoch FROM clock_timestamp() - transaction_timestamp())::float8 AS age',
  );
  return rows[0]?.age ?? NaN;
}

describe('the age of the oldest transaction', () => {
  it('is that of one that does nothing but stay open, until it ends', async () => {
    await other.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await other.query('SELECT FROM jobs');
    const [least, age, most] = [await ageOfOther(), await measured(), await ageOfOther()];
    expect(age).toBeGreaterThan(least);
    expect(age).toBeLessThan(most);
    await other.query('COMMIT');
    expect(await measured()).toBe(0);
  });

  it('counts one that has only written, and none of another database', async () => {
    const elsewhere = await createTestDatabase();
    await other.query('BEGIN');
    await other.query('SELECT pg_current_xact_id()');
    const least = await ageOfOther();
    expect(await measured()).toBeGreaterThan(least);
    expect(await measured(elsewhere.database)).toBe(0);
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
