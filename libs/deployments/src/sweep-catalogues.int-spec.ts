import { Prisma } from '@prisma/client';
import { createTestDatabase, makePool, type TestDatabase } from '@millrace/testing';
import { CatalogueStore } from './catalogue.store';
import { SweepCataloguesLoop } from './sweep-catalogues.loop';

const MINUTES_MS = 120_000;
let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

const store = new CatalogueStore();
const catalogue = (name: string): never => ({ [name]: {} }) as never;
const age = (): Promise<number> =>
  test.database.execute(Prisma.sql`UPDATE catalogues SET created_at = now() - interval '2 minutes'`);
const left = async (): Promise<string[]> =>
  (await test.database.models.catalogue.findMany()).map(({ digest }) => digest).sort();

it('a catalogue goes once no pool has used it for two minutes', async () => {
  const { poolId } = await makePool(test.database);
  const old = await store.publish(test.database, poolId, 'cpu', catalogue('Old'));
  const used = await store.publish(test.database, poolId, 'cpu', catalogue('Used'));
  await age();
  let nowMs = 0;
  const loop = new SweepCataloguesLoop(test.database, store, () => nowMs);
  expect(await loop.runOnce()).toBe(0);
  nowMs += MINUTES_MS - 1;
  expect(await loop.runOnce()).toBe(0);
  nowMs += 1;
  expect(await loop.runOnce()).toBe(1);
  expect(await left()).toEqual([used]);
  // Published again, it is there again.
  expect(await store.publish(test.database, poolId, 'cpu', catalogue('Old'))).toBe(old);
  expect(await left()).toEqual([old, used].sort());
});

it('however many texts a pool publishes, the one that it points at is left', async () => {
  const { poolId } = await makePool(test.database);
  let latest = '';
  for (let at = 0; at < 150; at += 1)
    latest = await store.publish(test.database, poolId, 'cpu', catalogue(`Text${at}`));
  await age();
  let nowMs = 0;
  const loop = new SweepCataloguesLoop(test.database, store, () => nowMs);
  await loop.runOnce();
  nowMs += MINUTES_MS;
  await loop.runOnce();
  const pools = await test.database.models.pool.findMany({ where: { catalogueDigest: { not: null } } });
  expect(await left()).toEqual(pools.map(({ catalogueDigest }) => catalogueDigest).sort());
  expect(await left()).toContain(latest);
});

it('a catalogue that is being published stays', async () => {
  const { poolId } = await makePool(test.database);
  const digest = await store.publish(test.database, poolId, 'cpu', catalogue('Young'));
  await store.publish(test.database, poolId, 'cpu', catalogue('Younger'));
  let nowMs = 0;
  const loop = new SweepCataloguesLoop(test.database, store, () => nowMs);
  await loop.runOnce();
  nowMs += MINUTES_MS;
  await loop.runOnce();
  expect(await left()).toContain(digest);
});

it('a catalogue that is published again meanwhile stays', async () => {
  const [{ poolId }, other] = [await makePool(test.database), await makePool(test.database)];
  const digest = await store.publish(test.database, poolId, 'cpu', catalogue('Again'));
  await store.publish(test.database, poolId, 'cpu', catalogue('Next'));
  await age();
  let nowMs = 0;
  const loop = new SweepCataloguesLoop(test.database, store, () => nowMs);
  await loop.runOnce();
  nowMs += MINUTES_MS;
  await store.publish(test.database, other.poolId, 'cpu', catalogue('Again'));
  await loop.runOnce();
  expect(await left()).toContain(digest);
});
