import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Prisma } from '@prisma/client';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

async function definition(name: string): Promise<string | undefined> {
  const [row] = await test.database.query<{ source: string }>(
    Prisma.sql`SELECT pg_get_functiondef(${name}::regproc) AS source`,
  );
  return row?.source;
}

describe('a function of dispatching', () => {
  it.each([
    ['await_dispatch', 'await-dispatch.sql'],
    ['dispatch_turn', 'dispatch-turn.sql'],
    ['dispatch_turns', 'dispatch-turns.sql'],
    ['follow_turn', 'follow-turn.sql'],
  ])('is in the migrated database what it is in the source: %s', async (name, file) => {
    const migrated = await definition(name);
    await test.database.execute(Prisma.raw(readFileSync(join(__dirname, file), 'utf8')));
    expect(await definition(name)).toBe(migrated);
  });
});
