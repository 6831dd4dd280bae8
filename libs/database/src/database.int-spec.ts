import { Prisma } from '@prisma/client';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { ConstraintError, RefusedError } from './errors';
import { REQUIRED_MIGRATION, assertSchema } from './schema-version';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

describe('a statement', () => {
  it('that refuses itself leaves nothing behind and tells its reason', async () => {
    const id = '0199aaaa-0000-7000-8000-000000000001';
    const refused = test.database.query(Prisma.sql`
      WITH made AS (INSERT INTO accounts (id, name) VALUES (${id}::uuid, 'a') RETURNING id)
      SELECT refuse('queue_full') FROM made`);
    await expect(refused).rejects.toEqual(new RefusedError('queue_full'));
    expect(await test.database.models.account.findMany()).toEqual([]);
  });

  it('that meets a constraint names it', async () => {
    const insert = (): Promise<number> =>
      test.database.execute(
        Prisma.sql`INSERT INTO accounts (id, name) VALUES ('0199aaaa-0000-7000-8000-000000000002'::uuid, 'b')`,
      );
    await insert();
    await expect(insert()).rejects.toEqual(new ConstraintError('unique', 'accounts_pkey'));
    await expect(test.database.execute(Prisma.sql`UPDATE accounts SET status = 'lost'`)).rejects.toEqual(
      new ConstraintError('check', 'accounts_status_check'),
    );
  });
});

describe('a transaction', () => {
  it('undoes everything when its work throws', async () => {
    const name = 'undone';
    const failing = test.database.transaction(async (tx) => {
      await tx.models.account.create({ data: { id: '0199aaaa-0000-7000-8000-000000000003', name } });
      throw new Error('the work failed');
    });
    await expect(failing).rejects.toThrow('the work failed');
    expect(await test.database.models.account.count({ where: { name } })).toBe(0);
  });
});

describe('a lock', () => {
  it('is held by one at a time and free again afterwards', async () => {
    const inner = await test.database.withLock('chore', () => test.database.withLock('chore', async () => 'both'));
    expect(inner).toBeNull();
    expect(await test.database.withLock('chore', async () => 'free')).toBe('free');
  });
});

describe('the schema', () => {
  it('is accepted when the required migration is applied', async () => {
    await expect(assertSchema(test.database)).resolves.toBeUndefined();
  });

  it('is refused with a cure when the migration is missing or the table is', async () => {
    const other = await createTestDatabase();
    try {
      await other.database.execute(Prisma.sql`DELETE FROM _prisma_migrations`);
      await expect(assertSchema(other.database)).rejects.toThrow(`lacks the migration ${REQUIRED_MIGRATION}`);
      await other.database.execute(Prisma.sql`DROP TABLE _prisma_migrations`);
      await expect(assertSchema(other.database)).rejects.toThrow('run the migrations first');
    } finally {
      await other.drop();
    }
  });
});
