import { Prisma } from '@prisma/client';
import { besideTransaction } from '@millrace/database';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { ONE_TURN, TurnStore } from './turn.store';

const turns = new TurnStore();

let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterAll(() => test.drop());

describe('a pool for which another process dispatches', () => {
  it('is waited for no longer than was asked, and then left to it', async () => {
    const { poolId } = await makePool(test.database);
    await world.queueMany(poolId, await makeAccount(test.database), 2);
    const terms = { ...ONE_TURN, poolWaitMs: 20 };
    await test.database.transaction(async (tx) => {
      await turns.take(tx, poolId, 100, ONE_TURN);
      const beside = await besideTransaction(() => turns.take(test.database, poolId, 100, terms));
      expect(beside).toMatchObject([{ job: null, inFlight: null }]);
    });
    expect(await turns.take(test.database, poolId, 100, terms)).toMatchObject([{ inFlight: 1 }]);
  });

  it('leaves the lock timeout of its transaction as it was', async () => {
    const { poolId } = await makePool(test.database);
    await test.database.transaction(async (tx) => {
      await tx.query(Prisma.sql`SELECT set_config('lock_timeout', '7s', true)`);
      await turns.take(tx, poolId, 100, { ...ONE_TURN, poolWaitMs: 20 });
      expect(await tx.query(Prisma.sql`SELECT current_setting('lock_timeout') AS now`)).toEqual([{ now: '7s' }]);
    });
  });
});
