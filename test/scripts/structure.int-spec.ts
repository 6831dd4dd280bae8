import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { describeStructure } from '../../scripts/lib/prisma/structure.mjs';

const COMMITTED = join(__dirname, '..', '..', 'prisma', 'structure.sql');

describe('the description of the database', () => {
  let test: TestDatabase;
  beforeAll(async () => (test = await createTestDatabase()));
  afterAll(() => test.drop());

  async function onTestDatabase<T>(use: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = new pg.Client({ connectionString: test.url });
    await client.connect();
    try {
      return await use(client);
    } finally {
      await client.end();
    }
  }

  it('is what stands in prisma/structure.sql', async () => {
    expect(await onTestDatabase(describeStructure)).toBe(readFileSync(COMMITTED, 'utf8'));
  });

  it('makes the same database again', async () => {
    await onTestDatabase(async (client) => {
      const before = await describeStructure(client);
      await client.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
      await client.query(before);
      expect(await describeStructure(client)).toBe(before);
    });
  });

  it.each([
    ['a column', 'ALTER TABLE accounts ADD COLUMN spare text'],
    ['a CHECK', 'ALTER TABLE accounts ADD CONSTRAINT spare_check CHECK (weight < 7)'],
    ['a partial index', 'CREATE INDEX spare_idx ON accounts (name) WHERE weight > 1'],
    ['a trigger', 'CREATE TRIGGER spare_trigger BEFORE UPDATE ON accounts EXECUTE FUNCTION refuse_change()'],
    ['a body of a function', 'CREATE FUNCTION spare() RETURNS int LANGUAGE sql AS $$ SELECT 1 $$'],
    ['a default', 'ALTER TABLE accounts ALTER COLUMN weight SET DEFAULT 2'],
    ['an enum', "CREATE TYPE spare AS ENUM ('b', 'a')"],
    ['a sequence', 'CREATE SEQUENCE spare_seq'],
    ['a storage parameter', 'ALTER TABLE accounts SET (fillfactor = 50)'],
    ['a foreign key', 'ALTER TABLE audit_log ADD CONSTRAINT spare_fkey FOREIGN KEY (account_id) REFERENCES accounts'],
    ['a policy', 'ALTER TABLE accounts ENABLE ROW LEVEL SECURITY; CREATE POLICY spare ON accounts USING (weight > 1)'],
  ])('distinguishes a database with one more %s', async (_, change) => {
    await onTestDatabase(async (client) => {
      const before = await describeStructure(client);
      await client.query('BEGIN');
      await client.query(change);
      const after = await describeStructure(client);
      await client.query('ROLLBACK');
      expect(after).not.toBe(before);
      expect(after.split('\n').length).toBeGreaterThanOrEqual(before.split('\n').length);
    });
  });
});
