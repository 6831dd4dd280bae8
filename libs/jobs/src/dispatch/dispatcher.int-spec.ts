import { Prisma } from '@prisma/client';
import { newId, type DispatchMessage } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { PoolStore, WorkerStore } from '@millrace/deployments';
import { createLogger } from '@millrace/platform';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { DispatchStore, type Dispatch } from '../rotation/turn.store';
import { Dispatcher } from './dispatcher';

let test: TestDatabase;
beforeAll(async () => {
  test = await createTestDatabase();
});
afterAll(() => test.drop());

/** Of a worker of capacity 1, with the look-ahead that a pool has by default. */
const ROOM = 3;

/** A dispatcher, the lane that it fills, and what its statements have told. */
function makeDispatcher(afterEach: (dispatch: Dispatch) => Promise<void> = async () => undefined): {
  dispatcher: Dispatcher;
  lane: DispatchMessage[];
  told: Dispatch[];
} {
  const lane: DispatchMessage[] = [];
  const told: Dispatch[] = [];
  class Told extends DispatchStore {
    override async dispatchFrom(...asked: Parameters<DispatchStore['dispatchFrom']>): Promise<Dispatch> {
      const dispatch = await super.dispatchFrom(...asked);
      told.push(dispatch);
      await afterEach(dispatch);
      return dispatch;
    }
  }
  const add = async (_poolId: string, message: DispatchMessage): Promise<void> => void lane.push(message);
  const lanes = { add, addAgain: add, states: async () => [] };
  const logger = createLogger('test', 'silent');
  const dispatcher = new Dispatcher(test.database, new Told(), new PoolStore(), new WorkerStore(), lanes, logger);
  return { dispatcher, lane, told };
}

async function queue(poolId: string, count: number): Promise<void> {
  const accountId = await makeAccount(test.database);
  await test.database.execute(Prisma.sql`
    INSERT INTO account_queues (pool_id, account_id, waiting, running_limit)
    VALUES (${poolId}, ${accountId}::uuid, ${count}, 100)`);
  const at = new Date(Date.now() + 3_600_000);
  const job = { accountId, poolId, surface: 'cloud', maxAttempts: 3, deadlineAt: at, expiresAt: at };
  await test.database.models.job.createMany({ data: Array.from({ length: count }, () => ({ id: newId(), ...job })) });
}

/** Do something while another process dispatches for the pool. */
async function besideAnother<T>(poolId: string, work: (leave: () => Promise<void>) => Promise<T>): Promise<T> {
  let commit: () => void = () => undefined;
  const leaving = new Promise<void>((resolve) => (commit = resolve));
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const other = test.database.transaction(async (tx: Statements) => {
    await new DispatchStore().dispatchNext(tx, poolId, ROOM);
    begin();
    await leaving;
  });
  await begun;
  const leave = async (): Promise<void> => {
    commit();
    await other;
  };
  try {
    return await work(leave);
  } finally {
    await leave();
  }
}

describe('a dispatcher', () => {
  it('fills the lane with a statement for each attempt, and none to learn that it is full', async () => {
    const { poolId } = await makePool(test.database);
    await queue(poolId, ROOM + 2);
    const { dispatcher, lane, told } = makeDispatcher();
    expect(await dispatcher.fill(poolId)).toBe(ROOM);
    expect(lane).toHaveLength(ROOM);
    expect(told.map(({ inFlight }) => inFlight)).toEqual([0, 1, 2]);
  });

  it('takes its turn after another process that was dispatching for the pool', async () => {
    const { poolId } = await makePool(test.database);
    await queue(poolId, ROOM + 2);
    await besideAnother(poolId, async (leave) => {
      const { dispatcher, lane, told } = makeDispatcher(({ inFlight }) =>
        inFlight === null ? leave() : Promise.resolve(),
      );
      expect(await dispatcher.fill(poolId)).toBe(ROOM - 1);
      expect(lane).toHaveLength(ROOM - 1);
      expect(told.map(({ inFlight }) => inFlight)).toEqual([null, 1, 2]);
    });
  });

  it('leaves the pool to another process that goes on dispatching for it', async () => {
    const { poolId } = await makePool(test.database);
    await queue(poolId, ROOM);
    await besideAnother(poolId, async () => {
      const { dispatcher, lane } = makeDispatcher();
      expect(await dispatcher.fill(poolId)).toBe(0);
      expect(lane).toEqual([]);
    });
  });
});
