import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Prisma } from '@prisma/client';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

async function definition(): Promise<string | undefined> {
  const [row] = await test.database.query<{ source: string }>(
    Prisma.sql`SELECT pg_get_functiondef('dispatch_turn'::regproc) AS source`,
  );
  return row?.source;
}

describe('the function of a turn', () => {
  it('is in the migrated database what it is in the source', async () => {
    const migrated = await definition();
    await test.database.execute(Prisma.raw(readFileSync(join(__dirname, 'dispatch-turn.sql'), 'utf8')));
    expect(await definition()).toBe(migrated);
  });
});
