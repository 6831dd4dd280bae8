import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { createTestDatabase, type TestDatabase } from '@millrace/testing';
import { wholeAccount, type AssetScope } from './asset-scope.store';
import { AssetStore } from './asset.store';

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: Plan[];
}

let young: TestDatabase;
beforeAll(async () => {
  young = await createTestDatabase();
});
afterAll(() => young.drop());

/** What of a statement's plan reads assets, as PostgreSQL plans it while there are none. */
async function readingsOf(work: (statements: Statements) => Promise<unknown>): Promise<Plan[]> {
  const sent: Prisma.Sql[] = [];
  const note = (sql: Prisma.Sql): Promise<never[]> => {
    sent.push(sql);
    return Promise.resolve([]);
  };
  const execute = (sql: Prisma.Sql): Promise<number> => note(sql).then(() => 0);
  await work({ query: note, rows: note, execute, models: young.database.models });
  const [row] = await young.database.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    Prisma.sql`EXPLAIN (FORMAT JSON) ${sent[0] ?? Prisma.empty}`,
  );
  const all = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(all)];
  const plan = row?.['QUERY PLAN'][0].Plan;
  return (plan === undefined ? [] : all(plan)).filter(
    (part) => part['Relation Name'] === 'assets' || part['Index Name']?.startsWith('assets_'),
  );
}

// A connection keeps the plan that it made while the table was small, until autovacuum has looked at it: a minute of a rush.
describe('an asset that is asked for by its id', () => {
  const id = newId();
  const whole = wholeAccount(newId());
  const own: AssetScope = { ...whole, labels: { user: 'ada' } };
  const store = new AssetStore();

  it.each<[string, (statements: Statements) => Promise<unknown>]>([
    ['shown', (to) => store.find(to, whole, id)],
    ['shown to a sub-key', (to) => store.find(to, own, id)],
    ['named by a submission', (to) => store.owned(to, own, [id, newId()])],
    ['an input of a job', (to) => store.contents(to, whole.accountId, [id, newId()])],
    ['given away', (to) => store.findMany(to, whole.accountId, [id])],
    ['kept for longer', (to) => store.extend(to, whole.accountId, id, 60)],
    ['about to be removed', (to) => store.lockBlobOf(to, own, id)],
    ['removed', (to) => store.remove(to, whole.accountId, id)],
  ])('is found by it, also by a plan made while there was none: %s', async (_what, use) => {
    const readings = await readingsOf(use);
    expect(readings.flatMap((reading) => reading['Index Name'] ?? [])).toEqual(['assets_pkey']);
  });
});
