import { newId } from '@millrace/contracts';
import { composeBilling, type Billing, type PaymentProvider } from '@millrace/billing';
import type { Database } from '@millrace/database';
import { Metrics, createLogger } from '@millrace/platform';

/** An account with credits to spend. @returns its id. */
export async function makeAccount(
  database: Database,
  { micros }: { micros: bigint } = { micros: 0n },
): Promise<string> {
  const id = newId();
  await database.models.account.create({ data: { id, name: `account ${id.slice(-4)}` } });
  if (micros > 0n) {
    const { credits } = testBilling(database);
    const adjustment = { reason: 'to be spent', expiresAt: null, corrects: null, key: null };
    await database.transaction((tx) => credits.adjust(tx, 'test', id, { ...adjustment, amountMicros: micros }));
  }
  return id;
}

const logger = createLogger('test', 'silent');
const metrics = new Metrics('test');

/** The credits of a test's database. @param provider who collects payments; null: nobody. */
export function testBilling(database: Database, provider: PaymentProvider | null = null): Billing {
  return composeBilling({ database, logger, metrics, settings: { jobExecutionDeadlineSeconds: 86_400 } }, provider);
}

/** A pool of a name that no other test uses, with one live worker of `capacity`. */
export async function makePool(database: Database, capacity = 1): Promise<{ poolId: string; workerId: string }> {
  const poolId = `pool-${newId()}`;
  await database.models.pool.create({ data: { id: poolId, engine: 'cpu' } });
  const workerId = newId();
  const facts = { engine: 'cpu', version: 'test', host: 'test', pid: 1, state: 'ready', capacity };
  // However long a test takes, the worker is not silent.
  const lastSeenAt = new Date(Date.now() + 600_000);
  await database.models.worker.create({ data: { id: workerId, poolId, ...facts, lastSeenAt } });
  return { poolId, workerId };
}
