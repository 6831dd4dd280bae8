import { Prisma } from '@prisma/client';
import { createTestDatabase, makePool, type TestDatabase } from '@millrace/testing';
import { CatalogueStore } from './catalogue.store';
import { SweepCataloguesLoop } from './sweep-catalogues.loop';

const HOUR_MS = 3_600_000;
let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const store = new CatalogueStore();
const catalogue = (name: string): never => ({ [name]: {} }) as never;
const age = (): Promise<number> =>
  test.database.execute(Prisma.sql`UPDATE catalogues SET created_at = now() - interval '8 days'`);
const left = async (): Promise<string[]> =>
  (await test.database.models.catalogue.findMany()).map(({ digest }) => digest).sort();

it('a catalogue goes a week after it was last published, once no pool has used it for an hour', async () => {
  const { poolId } = await makePool(test.database);
  const old = await store.publish(test.database, poolId, 'cpu', catalogue('Old'));
  const used = await store.publish(test.database, poolId, 'cpu', catalogue('Used'));
  await age();
  let nowMs = 0;
  const loop = new SweepCataloguesLoop(test.database, store, () => nowMs);
  expect(await loop.runOnce()).toBe(0);
  nowMs += HOUR_MS - 1;
  expect(await loop.runOnce()).toBe(0);
  nowMs += 1;
  expect(await loop.runOnce()).toBe(1);
  expect(await left()).toEqual([used]);
  // Published again, it is there again; the other one is unused now, and young while workers publish it.
  expect(await store.publish(test.database, poolId, 'cpu', catalogue('Old'))).toBe(old);
  expect(await left()).toEqual([old, used].sort());
});

it('a catalogue that is published again meanwhile stays', async () => {
  const [{ poolId }, other] = [await makePool(test.database), await makePool(test.database)];
  const digest = await store.publish(test.database, poolId, 'cpu', catalogue('Again'));
  await store.publish(test.database, poolId, 'cpu', catalogue('Next'));
  await age();
  let nowMs = 0;
  const loop = new SweepCataloguesLoop(test.database, store, () => nowMs);
  await loop.runOnce();
  nowMs += HOUR_MS;
  await store.publish(test.database, other.poolId, 'cpu', catalogue('Again'));
  await loop.runOnce();
  expect(await left()).toContain(digest);
});
