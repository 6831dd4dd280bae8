import { Prisma } from '@prisma/client';
import { AccountStore } from '@millrace/accounts';
import { newId } from '@millrace/contracts';
import { createTestDatabase, makePool, type TestDatabase } from '@millrace/testing';
import { AccountQueueStore } from './account-queue.store';
import { SweepDemoNetworksLoop } from './sweep-demo-networks.loop';

let test: TestDatabase;
let loop: SweepDemoNetworksLoop;
let poolId: string;
beforeAll(async () => {
  test = await createTestDatabase();
  loop = new SweepDemoNetworksLoop(test.database, new AccountQueueStore());
  ({ poolId } = await makePool(test.database));
});
afterAll(() => test.drop());

async function account(kind: string, idleHours: number): Promise<string> {
  const id = newId();
  await test.database.execute(Prisma.sql`
    INSERT INTO accounts (id, name, kind, updated_at)
    VALUES (${id}::uuid, 'a network', ${kind}, now() - make_interval(hours => ${idleHours}))`);
  return id;
}
const isThere = async (id: string): Promise<boolean> =>
  (await test.database.models.account.count({ where: { id } })) === 1;

it('deletes the accounts of networks that are idle and empty, and no other', async () => {
  const { models } = test.database;
  const [empty, fresh, storing, customer] = [
    await account('demo_network', 25),
    await account('demo_network', 23),
    await account('demo_network', 25),
    await account('customer', 25),
  ];
  await models.accountQueue.create({ data: { poolId, accountId: empty, runningLimit: 1 } });
  await models.uploadDay.create({ data: { accountId: empty, day: new Date(), sizeBytes: 5n } });
  await models.accountStorage.create({ data: { accountId: empty } });
  await models.uploadDay.create({ data: { accountId: storing, day: new Date(), sizeBytes: 5n } });
  await models.blob.create({ data: { accountId: storing, hash: `blake3:${'ab'.repeat(32)}`, sizeBytes: 5n } });

  expect(await loop.runOnce()).toBe(1);
  expect([await isThere(empty), await isThere(fresh), await isThere(storing), await isThere(customer)]).toEqual([
    false,
    true,
    true,
    true,
  ]);
  // What could not be deleted has kept its counters.
  expect(await models.uploadDay.count({ where: { accountId: storing } })).toBe(1);
  expect(await models.accountStorage.findUnique({ where: { accountId: storing } })).toMatchObject({ storedBytes: 5n });

  await models.blob.deleteMany({ where: { accountId: storing } });
  expect(await loop.runOnce()).toBe(1);
  expect(await isThere(storing)).toBe(false);
});

it('meets the accounts of idle networks page by page, each once', async () => {
  const due: string[] = [];
  for (let n = 0; n < 5; n += 1) due.push(await account('demo_network', 25));
  const accounts = new AccountStore();
  const page = (after: string | null): Promise<string[]> => accounts.listIdleNetworks(test.database, 86_400, after, 2);
  const met: string[] = [];
  for (let ids = await page(null); ids.length > 0 && met.length < 100; ids = await page(ids.at(-1) ?? null)) {
    met.push(...ids);
  }
  expect(met).toEqual(due.sort());
});
