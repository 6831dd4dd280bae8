import { Prisma } from '@prisma/client';
import { KeyRing, createLogger } from '@millrace/platform';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { DailyExports, ExportStore } from '../exports';
import { claimDeliveries, claimSql, type ClaimRoom } from './claim.store';
import { DeliveryStore } from './delivery.store';
import { DestinationSecrets } from './destination-secrets';
import { DestinationStore } from './destination.store';
import { ExportDeliverer } from './export-deliverer';
import type { ObjectWriter } from './export-destination';

const DAYS = ['2026-02-01', '2026-02-02', '2026-02-03', '2026-02-04', '2026-02-05', '2026-02-06', '2026-02-07'];
const AFTER = new Date('2026-03-15T00:10:00.000Z');
const ROOM: ClaimRoom = { lane: 'quick', limit: 9, slow: [], taken: [], after: null };
const OWN_BUCKET = { bucket: null, region: null, endpoint: null, accessKeyId: null, sealedSecret: null, prefix: '' };

const store = new DeliveryStore();

let test: TestDatabase;
/** Three accounts with many days to write, in the order of their ids. */
let accounts: [string, string, string];
beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(async () => {
  await test.database.execute(Prisma.sql`DELETE FROM export_deliveries`);
  const made = [await waiting(), await waiting(), await waiting()];
  accounts = made.sort() as typeof accounts;
});
afterAll(() => test.drop());

/** An account that has its days written again. */
async function waiting(): Promise<string> {
  const accountId = await makeAccount(test.database);
  await new DestinationStore().put(test.database, accountId, OWN_BUCKET, '2026-03-15');
  for (const day of DAYS) await store.requestDay(test.database, accountId, day);
  return accountId;
}
const claimed = async (room: Partial<ClaimRoom>): Promise<string[]> =>
  (await claimDeliveries(test.database, { ...ROOM, ...room }, 60)).map(({ accountId }) => accountId).sort();

it('accounts have their turns one after the other, each with one day', async () => {
  const [first, second, third] = accounts;
  expect(await claimed({ limit: 2 })).toEqual([first, second]);
  expect(await claimed({ after: second })).toEqual([third]);
  expect(await claimed({})).toEqual(accounts);
});

it('an account for which a day is being written has its next turn after that', async () => {
  const [first, second, third] = accounts;
  expect(await claimed({ taken: [first, third] })).toEqual([second]);
});

it('an account whose bucket is slow waits among those that fail', async () => {
  const [first, second, third] = accounts;
  await test.database.execute(Prisma.sql`
    UPDATE export_destinations SET failing_since = now() WHERE account_id = ${second}::uuid`);
  expect(await claimed({ slow: [first] })).toEqual([third]);
  expect(await claimed({ slow: [first], lane: 'slow' })).toEqual([first, second]);
});

/** Its buckets take nothing until `open`. */
function held(): { deliverer: ExportDeliverer; open: () => void } {
  let open = (): void => undefined;
  const gate = new Promise<null>((resolve) => (open = () => resolve(null)));
  const bucket: ObjectWriter = { write: () => gate, close: () => Promise.resolve() };
  const exports = new DailyExports(test.database, new ExportStore(), AFTER);
  const secrets = new DestinationSecrets(KeyRing.of(Buffer.alloc(32, 7)));
  const logger = createLogger('test', 'silent');
  return { deliverer: new ExportDeliverer(test.database, exports, secrets, bucket, 'the-service', logger), open };
}

it('a bucket that takes nothing keeps one place, however many days wait for it, and takes none of another', async () => {
  const { deliverer, open } = held();
  const begun: number[] = [];
  for (let turn = 0; turn < 3; turn += 1) begun.push(await deliverer.deliverDue());
  expect(begun).toEqual([3, 0, 0]);
  await waiting();
  expect(await deliverer.deliverDue()).toBe(1);
  open();
  await deliverer.close();
});

it.each([
  ['quick', 6, 'NULL'],
  ['slow', 3, 'now()'],
])(
  'a process whose %s places are all taken claims nothing, and goes on with its other work',
  async (_lane, places, since) => {
    const { deliverer, open } = held();
    for (let more = accounts.length; more < places + 2; more += 1) await waiting();
    await test.database.execute(Prisma.sql`UPDATE export_destinations SET failing_since = ${Prisma.raw(since)}`);
    expect(await deliverer.deliverDue()).toBe(places);
    expect(await deliverer.deliverDue()).toBe(0);
    open();
    await deliverer.close();
  },
);

it('what waits is found by its account, however long the log is', async () => {
  await test.database.execute(Prisma.sql`
    INSERT INTO export_deliveries (account_id, day, state, location, usage_rows, usage_micros, ledger_rows, ledger_micros, usage_sha256, ledger_sha256)
    SELECT ${accounts[0]}::uuid, '1950-01-01'::date + n::int, 'delivered', 's3://a/', 0, 0, 0, 0, '', '' FROM generate_series(1, 20000) n`);
  await test.database.execute(Prisma.sql`ANALYZE export_deliveries`);
  const [row] = await test.database.query<object>(Prisma.sql`EXPLAIN (FORMAT JSON) ${claimSql(ROOM, 60)}`);
  const plan = JSON.stringify(row);
  expect(plan).toContain('export_deliveries_turn_idx');
  expect(plan).not.toMatch(/"Seq Scan"[^}]*"Relation Name":"export_deliveries"/);
});
