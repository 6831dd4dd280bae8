import { newId } from '@millrace/contracts';
import { LedgerStore } from '@millrace/billing';
import type { Database } from '@millrace/database';

/** An account with credits to spend. @returns its id. */
export async function makeAccount(database: Database, credits: { micros: bigint } = { micros: 0n }): Promise<string> {
  const id = newId();
  await database.models.account.create({ data: { id, name: `account ${id.slice(-4)}` } });
  if (credits.micros > 0n) {
    await new LedgerStore().credit(database, {
      accountId: id,
      amountMicros: credits.micros,
      kind: 'grant',
      cause: `test:${id}`,
      actor: 'test',
      reason: 'to be spent',
    });
  }
  return id;
}

/** A pool of a name that no other test uses, with one live worker of `capacity`. */
export async function makePool(database: Database, capacity = 1): Promise<{ poolId: string; workerId: string }> {
  const poolId = `pool-${newId()}`;
  await database.models.pool.create({ data: { id: poolId, engine: 'cpu' } });
  const workerId = newId();
  await database.models.worker.create({
    data: { id: workerId, poolId, engine: 'cpu', version: 'test', host: 'test', pid: 1, state: 'ready', capacity },
  });
  return { poolId, workerId };
}
