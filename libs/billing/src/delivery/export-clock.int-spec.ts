import { Prisma } from '@prisma/client';
import { Refusal } from '@millrace/contracts';
import { AddressGuard, KeyRing, createLogger } from '@millrace/platform';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { DailyExports, ExportStore } from '../exports';
import { ExportDeliveries } from './deliveries.service';
import { DeliveryStore } from './delivery.store';
import { DestinationSecrets } from './destination-secrets';
import { DestinationStore } from './destination.store';
import { ExportDestinations } from './destinations.service';
import { ExportDeliverer } from './export-deliverer';
import type { ObjectWriter } from './export-destination';

const DAY_MS = 86_400_000;
/** Only the clock is another: timers go on. */
const TIMERS = [
  'hrtime',
  'nextTick',
  'performance',
  'queueMicrotask',
  'setImmediate',
  'clearImmediate',
  'setInterval',
  'clearInterval',
  'setTimeout',
  'clearTimeout',
] as const;

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(() => {
  jest.useFakeTimers({ now: Date.now() + 2 * DAY_MS, doNotFake: [...TIMERS] });
});
afterEach(() => jest.useRealTimers());
afterAll(() => test.drop());

it('a process whose clock is ahead takes no day for complete that is not', async () => {
  const accountId = await makeAccount(test.database);
  const exports = new DailyExports(test.database, new ExportStore());
  const secrets = new DestinationSecrets(KeyRing.of(Buffer.alloc(32, 7)));
  const destinations = new ExportDestinations(
    test.database,
    new DestinationStore(),
    secrets,
    new AddressGuard([]),
    exports,
    true,
  );
  await destinations.put(test.database, accountId, { target: null, prefix: '' });
  const bucket: ObjectWriter = { write: () => Promise.resolve(null), close: () => Promise.resolve() };
  const logger = createLogger('test', 'silent');
  const deliverer = new ExportDeliverer(test.database, exports, secrets, bucket, 'the-service', logger);
  await deliverer.deliverDue();
  await deliverer.close();

  const [row] = await test.database.rows<{ today: string; planned: number; next: boolean }>(Prisma.sql`
    SELECT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS today,
      (SELECT count(*)::int FROM export_deliveries WHERE day >= (now() AT TIME ZONE 'UTC')::date) AS planned,
      (SELECT bool_or(next_day > (now() AT TIME ZONE 'UTC')::date) FROM export_destinations) AS next`);
  const { today, ...days } = row ?? { today: '' };
  expect(days).toEqual({ planned: 0, next: false });
  const deliveries = new ExportDeliveries(test.database, new DeliveryStore(), exports);
  await expect(deliveries.requestDay(accountId, today)).rejects.toThrow(Refusal);
  const take = (): Promise<void> => Promise.resolve();
  await expect(exports.send(accountId, today, 'usage', take)).rejects.toThrow(Refusal);
  const from = new Date(`${today}T00:00:00.000Z`);
  const listed = await exports.list(accountId, from, new Date(from.getTime() + DAY_MS));
  expect(listed.map(({ day, isComplete }) => [day, isComplete])).toEqual([[today, false]]);
});
