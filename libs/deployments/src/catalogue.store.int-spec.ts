import { Prisma } from '@prisma/client';
import type { NodeCatalogue } from '@millrace/contracts';
import { createTestDatabase, makePool, type TestDatabase } from '@millrace/testing';
import { CatalogueStore } from './catalogue.store';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const store = new CatalogueStore();
const node = { displayName: '', category: '', description: '', inputs: {}, outputs: [], outputNode: true };

/** What wrote the rows of a catalogue and a pool last, and when the catalogue was published. */
async function rows(digest: string, poolId: string): Promise<{ writers: string[]; isYoung: boolean }> {
  const [row] = await test.database.rows<{ catalogue: string; pool: string; isYoung: boolean }>(Prisma.sql`
    SELECT c.xmin::text AS catalogue, p.xmin::text AS pool, c.created_at > now() - interval '1 hour' AS is_young
    FROM catalogues c, pools p WHERE c.digest = ${digest} AND p.id = ${poolId}`);
  if (row === undefined) throw new Error('there is no such catalogue or pool');
  return { writers: [row.catalogue, row.pool], isYoung: row.isYoung };
}

const age = (digest: string, days: number): Promise<number> =>
  test.database.execute(Prisma.sql`
    UPDATE catalogues SET created_at = now() - make_interval(days => ${days}::int) WHERE digest = ${digest}`);

describe('a catalogue that is published again', () => {
  it('by the pool that has it writes nothing', async () => {
    const { poolId } = await makePool(test.database);
    const catalogue: NodeCatalogue = { Same: node };
    const digest = await store.publish(test.database, poolId, 'cpu', catalogue);
    const before = await rows(digest, poolId);
    expect(await store.publish(test.database, poolId, 'cpu', { ...catalogue })).toBe(digest);
    expect(await rows(digest, poolId)).toEqual(before);
  });

  it('by another pool, or after another one, becomes the one of its pool', async () => {
    const [one, two] = [await makePool(test.database), await makePool(test.database)];
    const digest = await store.publish(test.database, one.poolId, 'cpu', { Shared: node });
    await age(digest, 8);
    expect(await store.publish(test.database, two.poolId, 'cpu', { Shared: node })).toBe(digest);
    expect((await rows(digest, two.poolId)).isYoung).toBe(true);
    const next = await store.publish(test.database, one.poolId, 'cpu', { Next: node });
    expect(next).not.toBe(digest);
    await store.publish(test.database, one.poolId, 'cpu', { Shared: node });
    const pools = await test.database.models.pool.findMany({ where: { id: { in: [one.poolId, two.poolId] } } });
    expect(pools.map(({ catalogueDigest }) => catalogueDigest)).toEqual([digest, digest]);
  });
});
