import { randomUUID } from 'node:crypto';
import { Prisma } from '@prisma/client';
import { newId, type DispatchMessage } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { PoolStore, WorkerStore } from '@millrace/deployments';
import { createLogger } from '@millrace/platform';
import { createTestDatabase, eventually, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { claimAttempt } from '../lifecycle/claim.store';
import { TurnStore, type Turn } from '../rotation/turn.store';
import { Dispatcher } from './dispatcher';
import { UnclaimedStore } from './unclaimed.store';

let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterAll(() => test.drop());

const settings = { modelWaitSeconds: 10 };
/** Of a worker of capacity 1, with the look-ahead that a pool has by default. */
const ROOM = 3;

/** A dispatcher, the lane that it fills, and the turns that it took. */
function makeDispatcher(afterEach: (turn: Turn) => Promise<void> = async () => undefined): {
  dispatcher: Dispatcher;
  lane: DispatchMessage[];
  taken: Turn[];
  /** How many turns each statement came to. */
  statements: number[];
  /** Statements that may wait for another process: now, and how many at once there were. */
  waits: { now: number; most: number };
} {
  const lane: DispatchMessage[] = [];
  const taken: Turn[] = [];
  const statements: number[] = [];
  const store = new TurnStore();
  const waits = { now: 0, most: 0 };
  const take: TurnStore['take'] = async (...asked) => {
    const isWaiting = asked[3].poolWaitMs > 0;
    if (isWaiting) waits.most = Math.max(waits.most, ++waits.now);
    const turns = await store.take(...asked).finally(() => isWaiting && waits.now--);
    taken.push(...turns);
    statements.push(turns.length);
    for (const turn of turns) await afterEach(turn);
    return turns;
  };
  const add = async (_poolId: string, message: DispatchMessage): Promise<void> => void lane.push(message);
  const addAll = async (_poolId: string, messages: readonly DispatchMessage[]): Promise<void> =>
    void lane.push(...messages);
  const lanes = { add, addAll, addAgain: add, addLeft: add, states: async () => [] };
  const { database } = test;
  const logger = createLogger('test', 'silent');
  const [unclaimed, pools, workers] = [new UnclaimedStore(), new PoolStore(), new WorkerStore()];
  // However slow the machine is, what the process knows does not age.
  const now = (): number => 0;
  const dispatcher = new Dispatcher(database, { take }, unclaimed, pools, workers, lanes, logger, settings, now);
  return { dispatcher, lane, taken, statements, waits };
}

async function queue(poolId: string, count: number): Promise<void> {
  await world.queueMany(poolId, await makeAccount(test.database), count);
}

/** Whether a process waits in PostgreSQL for another that dispatches for the same pool. */
async function isWaitedFor(): Promise<boolean> {
  const waiting = await test.database.query(Prisma.sql`
    SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
    WHERE d.datname = current_database() AND l.locktype = 'advisory' AND NOT l.granted`);
  return waiting.length > 0;
}

/** Do something while another process dispatches for the pool. */
async function besideAnother<T>(poolId: string, work: (leave: () => Promise<void>) => Promise<T>): Promise<T> {
  let commit: () => void = () => undefined;
  const leaving = new Promise<void>((resolve) => (commit = resolve));
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const other = test.database.transaction(async (tx: Statements) => {
    await world.dispatch(poolId, tx);
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
  it('fills the lane with one statement, and none to learn that it is full', async () => {
    const { poolId } = await makePool(test.database);
    await queue(poolId, ROOM + 2);
    const { dispatcher, lane, taken, statements } = makeDispatcher();
    expect(await dispatcher.fill(poolId)).toBe(ROOM);
    expect(lane.map(({ jobId }) => jobId)).toEqual(taken.map(({ job }) => job?.jobId));
    expect(taken.map(({ inFlight }) => inFlight)).toEqual([0, 1, 2]);
    expect(statements).toEqual([ROOM]);
  });

  it('needs no second statement to learn that nothing waits any more', async () => {
    const { poolId } = await makePool(test.database);
    await queue(poolId, 1);
    const { dispatcher, lane, statements } = makeDispatcher();
    expect(await dispatcher.fill(poolId)).toBe(1);
    expect(lane).toHaveLength(1);
    expect(statements).toEqual([2]);
  });

  it('has looked up what a pool takes by the time that it was expected to dispatch', async () => {
    const { poolId } = await makePool(test.database);
    await queue(poolId, 1);
    const room = jest.spyOn(WorkerStore.prototype, 'room');
    const { dispatcher } = makeDispatcher();
    dispatcher.expectDispatch(poolId);
    expect(room).toHaveBeenCalledTimes(1);
    expect(await dispatcher.fill(poolId)).toBe(1);
    expect(room).toHaveBeenCalledTimes(1);
    room.mockRestore();
  });

  it('goes on without what the lane does not take: that is put back later', async () => {
    const { poolId } = await makePool(test.database);
    await queue(poolId, ROOM);
    const logger = createLogger('test', 'silent');
    const warned = jest.spyOn(logger, 'warn');
    const addAll = (): Promise<never> => Promise.reject(new Error('Redis is away'));
    const lanes = { add: addAll, addAll, addAgain: addAll, addLeft: addAll, states: async () => [] };
    const parts = [new UnclaimedStore(), new PoolStore(), new WorkerStore()] as const;
    const dispatcher = new Dispatcher(test.database, new TurnStore(), ...parts, lanes, logger, settings);
    expect(await dispatcher.fill(poolId)).toBe(ROOM);
    expect(warned).toHaveBeenCalledTimes(1);
  });

  it('takes its turn after another process that was dispatching for the pool', async () => {
    const { poolId } = await makePool(test.database);
    await queue(poolId, ROOM + 2);
    await besideAnother(poolId, async (leave) => {
      const { dispatcher, lane, taken } = makeDispatcher(({ inFlight }) =>
        inFlight === null ? leave() : Promise.resolve(),
      );
      expect(await dispatcher.fill(poolId)).toBe(ROOM - 1);
      expect(lane).toHaveLength(ROOM - 1);
      expect(taken.map(({ inFlight }) => inFlight)).toEqual([null, 1, 2]);
    });
  });

  it('has its turn when the other process commits, without asking again in between', async () => {
    const { poolId } = await makePool(test.database);
    await queue(poolId, ROOM + 2);
    await besideAnother(poolId, async (leave) => {
      const { dispatcher, taken } = makeDispatcher();
      const filling = dispatcher.fill(poolId);
      await eventually('one process waits for another', isWaitedFor);
      await leave();
      expect(await filling).toBe(ROOM - 1);
      expect(taken.map(({ inFlight }) => inFlight)).toEqual([null, 1, 2]);
    });
  });

  it('waits with one connection, however many pools others dispatch for', async () => {
    const [one, two] = [await makePool(test.database), await makePool(test.database)];
    const { dispatcher, waits } = makeDispatcher();
    await besideAnother(one.poolId, () =>
      besideAnother(two.poolId, async () => {
        const filling = [dispatcher.fill(one.poolId), dispatcher.fill(two.poolId)];
        await eventually('one process waits for another', isWaitedFor);
        await Promise.all(filling);
      }),
    );
    expect(waits.most).toBe(1);
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

describe('a pool with workers that take no more', () => {
  const CAPACITY = 3;
  const LOOK_AHEAD = ROOM - 1;
  const LEAVING: [string, (id: string) => Promise<unknown>][] = [
    ['drains', (id) => new WorkerStore().drain(test.database, id)],
    ['is not well', (id) => changeWorker(id, { state: 'starting', problem: 'its engine has ended' })],
    ['is silent', (id) => changeWorker(id, { lastSeenAt: new Date(0) })],
    ['is gone', (id) => test.database.models.worker.delete({ where: { id } })],
  ];

  const changeWorker = (id: string, data: Prisma.WorkerUpdateInput): Promise<unknown> =>
    test.database.models.worker.update({ where: { id }, data });

  const claims = async (workerId: string, { jobId, attempt }: DispatchMessage): Promise<unknown> =>
    claimAttempt(test.database, { jobId, attempt, workerId, leaseToken: randomUUID(), leaseSeconds: 60 });

  /** A pool of two workers, of which one has as many attempts as it can run, with more jobs than they can run. */
  async function withOneBusy() {
    const { poolId, workerId: busy } = await makePool(test.database, CAPACITY);
    await queue(poolId, 5 * CAPACITY);
    const { dispatcher, lane } = makeDispatcher();
    await dispatcher.fill(poolId);
    for (const message of lane.splice(0, CAPACITY)) expect(await claims(busy, message)).not.toBeNull();
    const idle = newId();
    const lastSeenAt = new Date(Date.now() + 600_000);
    const facts = { engine: 'cpu', version: 'test', host: 'test', pid: 2, state: 'ready', capacity: CAPACITY };
    await test.database.models.worker.create({ data: { id: idle, poolId, ...facts, lastSeenAt } });
    return { poolId, busy, idle };
  }

  it.each(LEAVING)('fills the others while one that %s runs as many attempts as they could', async (_what, leaves) => {
    const { poolId, busy, idle } = await withOneBusy();
    await leaves(busy);
    // The look-ahead of before is in the lane, and the idle worker takes it.
    expect(await makeDispatcher().dispatcher.fill(poolId)).toBe(CAPACITY);
    const taken = await new UnclaimedStore().list(test.database, poolId, { olderThanSeconds: 0, placedSeconds: 0 });
    expect(taken).toHaveLength(CAPACITY + LOOK_AHEAD);
    for (const message of taken.slice(0, CAPACITY)) expect(await claims(idle, message)).not.toBeNull();
    // What waits now waits for a worker that is busy.
    expect(await makeDispatcher().dispatcher.fill(poolId)).toBe(0);
  });

  it('gives nothing where no worker is left that takes attempts', async () => {
    const { poolId, busy, idle } = await withOneBusy();
    for (const id of [busy, idle]) await new WorkerStore().drain(test.database, id);
    expect(await makeDispatcher().dispatcher.fill(poolId)).toBe(0);
  });
});

describe('what a lane has lost', () => {
  /** A dispatcher of a pool with one attempt that went to the lane long ago, and what happens to what is put back. */
  async function withOneUnclaimed(lanes: Partial<ConstructorParameters<typeof Dispatcher>[5]>) {
    const { poolId } = await makePool(test.database);
    await queue(poolId, 1);
    await world.dispatch(poolId);
    await test.database.execute(
      Prisma.sql`UPDATE jobs SET dispatched_at = now() - interval '1 min' WHERE pool_id = ${poolId}`,
    );
    const logger = createLogger('test', 'silent');
    const warnings = jest.spyOn(logger, 'warn');
    const nothing = {
      add: async () => undefined,
      addAll: async () => undefined,
      addAgain: async () => undefined,
      addLeft: async () => undefined,
      states: async () => ['absent' as const],
    };
    const all = { ...nothing, ...lanes };
    const [unclaimed, pools, workers] = [new UnclaimedStore(), new PoolStore(), new WorkerStore()];
    const dispatcher = new Dispatcher(test.database, new TurnStore(), unclaimed, pools, workers, all, logger, settings);
    return { poolId, dispatcher, warnings };
  }

  it('counts when it is put back', async () => {
    const { poolId, dispatcher } = await withOneUnclaimed({});
    expect(await dispatcher.redeliver(poolId)).toBe(1);
  });

  it("is no work done when the lane takes nothing: the error is the caller's, and is not logged for each job", async () => {
    const full = (): Promise<never> => Promise.reject(new Error('OOM command not allowed'));
    const { poolId, dispatcher, warnings } = await withOneUnclaimed({ add: full, addAgain: full, addLeft: full });
    await expect(dispatcher.redeliver(poolId)).rejects.toThrow('OOM');
    expect(warnings).not.toHaveBeenCalled();
  });

  it.each(['absent', 'taken', 'held'] as const)('and is %s each time is put back once in a period', async (state) => {
    const sent: (string | undefined)[] = [];
    const { poolId, dispatcher } = await withOneUnclaimed({
      states: async () => [state],
      add: async () => void sent.push('absent'),
      addAgain: async (_pool, _message, again) => void sent.push(again),
      addLeft: async () => void sent.push('left'),
    });
    const clock = jest.spyOn(Date, 'now').mockReturnValue(1_000_000);
    expect(await dispatcher.redeliver(poolId)).toBe(1);
    for (let run = 0; run < 3; run += 1) expect(await dispatcher.redeliver(poolId)).toBe(0);
    clock.mockReturnValue(1_010_000);
    expect(await dispatcher.redeliver(poolId)).toBe(1);
    clock.mockRestore();
    // An offer beside two that are held needs a name of its own each time.
    const names = { absent: ['absent', 'absent'], taken: ['left', 'left'], held: ['t100', 't101'] };
    expect(sent).toEqual(names[state]);
  });

  it('stays put back while it waits in the lane and is gone again, in the same period', async () => {
    const states: ('absent' | 'waiting')[] = ['absent', 'waiting', 'absent'];
    let added = 0;
    const { poolId, dispatcher } = await withOneUnclaimed({
      states: async () => states.splice(0, 1),
      add: async () => void (added += 1),
    });
    const clock = jest.spyOn(Date, 'now').mockReturnValue(1_000_000);
    while (states.length > 0) await dispatcher.redeliver(poolId);
    clock.mockRestore();
    expect(added).toBe(1);
  });
});
