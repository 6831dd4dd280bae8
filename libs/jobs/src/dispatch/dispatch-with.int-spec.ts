import { Prisma } from '@prisma/client';
import pg from 'pg';
import type { DispatchMessage } from '@millrace/contracts';
import { RefusedError, besideTransaction } from '@millrace/database';
import { PoolStore, WorkerStore } from '@millrace/deployments';
import { createLogger, readSettings } from '@millrace/platform';
import { createTestDatabase, eventually, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobAudit } from '../audit/job-audit';
import { JobWorld } from '../fixtures/job-world';
import { jobSettings } from '../job.settings';
import { QUEUE_FULL } from '../rotation/join.store';
import { TurnStore, type TurnOffer } from '../rotation/turn.store';
import type { JobDraft } from '../submission/submission';
import { SubmissionStore, type RecordedAlone } from '../submission/submission.store';
import { Dispatcher } from './dispatcher';
import { UnclaimedStore } from './unclaimed.store';

const store = new SubmissionStore(readSettings(jobSettings, {}));

let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterAll(() => test.drop());

/** A pool, and a process that knows how much room it has; `take` counts the statements of turns alone. */
async function makeProcess(poolId: string): Promise<{
  dispatcher: Dispatcher;
  lane: string[];
  take: jest.SpiedFunction<TurnStore['take']>;
  submit: (draft: JobDraft) => Promise<RecordedAlone>;
  offers: (TurnOffer | null)[];
}> {
  const lane: string[] = [];
  const turns = new TurnStore();
  const take = jest.spyOn(turns, 'take');
  const add = async (_: string, { jobId }: DispatchMessage): Promise<void> => void lane.push(jobId);
  const addAll = async (_: string, messages: readonly DispatchMessage[]): Promise<void> =>
    void lane.push(...messages.map(({ jobId }) => jobId));
  const lanes = { add, addAll, addAgain: add, addLeft: add, states: async () => [] };
  const parts = [new UnclaimedStore(), new PoolStore(), new WorkerStore()] as const;
  const logger = createLogger('test', 'silent');
  const settings = { modelWaitSeconds: 10 };
  // However slow the machine is, what the process knows does not age.
  const dispatcher = new Dispatcher(test.database, turns, ...parts, lanes, logger, settings, () => 0);
  // Once it has filled the lane, it knows the room.
  await dispatcher.fill(poolId);
  take.mockClear();
  const offers: (TurnOffer | null)[] = [];
  const submit = (draft: JobDraft): Promise<RecordedAlone> =>
    dispatcher.dispatchWith(draft.poolId, (offer) => {
      offers.push(offer);
      return store.record(test.database, draft, offer);
    });
  return { dispatcher, lane, take, submit, offers };
}

interface DeliveryRow {
  delivery: string;
  isInOrder: boolean;
  waiting: number;
  inFlight: number;
  pass: string;
  virtualTime: string;
}

/** What the turns of a pool have left, by jobs that have not ended. */
function rowsOf(poolId: string): Promise<DeliveryRow[]> {
  return test.database.rows<DeliveryRow>(Prisma.sql`
    SELECT j.delivery::text AS delivery, j.dispatched_at IS NULL OR (j.dispatched_at >= j.created_at AND j.updated_at >= j.created_at) AS is_in_order,
      q.waiting, q.in_flight, q.pass::text AS pass, p.virtual_time::text AS virtual_time
    FROM jobs j JOIN account_queues q ON q.pool_id = j.pool_id AND q.account_id = j.account_id JOIN pools p ON p.id = j.pool_id
    WHERE j.pool_id = ${poolId} AND j.delivery <> 'done' ORDER BY j.id`);
}

/** Let the account have had a job in the pool: its first one. */
async function settle(poolId: string, accountId: string): Promise<void> {
  const job = await world.submit({ poolId, accountId, holdMicros: 0n });
  await world.end(await world.start(job));
}

describe('a submission of a pool that has room', () => {
  it('has its turn in its own statement, and leaves what a turn after it leaves', async () => {
    const [apart, beside] = [await makePool(test.database), await makePool(test.database)];
    for (const { poolId } of [apart, beside]) {
      const { dispatcher, submit, take, lane } = await makeProcess(poolId);
      const accounts = [await makeAccount(test.database), await makeAccount(test.database)];
      for (const accountId of accounts) await settle(poolId, accountId);
      for (const [n, accountId] of accounts.entries()) {
        const draft = await world.draft({ poolId, accountId, holdMicros: 0n });
        if (poolId === beside.poolId) await submit(draft);
        else {
          await store.record(test.database, draft);
          await dispatcher.fill(poolId);
        }
        await dispatcher.close();
        expect(lane).toHaveLength(n + 1);
      }
      expect(take).toHaveBeenCalledTimes(poolId === beside.poolId ? 0 : 2);
    }
    const rows = await rowsOf(beside.poolId);
    expect(rows).toEqual(await rowsOf(apart.poolId));
    expect(rows).toMatchObject(Array(2).fill({ delivery: 'dispatched', isInOrder: true, waiting: 0, inFlight: 1 }));
    for await (const finding of new JobAudit(test.database).findings()) throw new Error(JSON.stringify(finding));
  });

  it('has its turn right after its statement where its account is new in the pool', async () => {
    const { poolId } = await makePool(test.database);
    const { dispatcher, submit, take, lane } = await makeProcess(poolId);
    const { id, turns } = await submit(await world.draft({ poolId }));
    expect(turns).toMatchObject([{ job: null, inFlight: 0 }]);
    await dispatcher.close();
    expect([lane, take.mock.calls.length]).toEqual([[id], 1]);
  });

  it('gives the turn to a job that waits before it, and the rest is dispatched at once', async () => {
    const { poolId } = await makePool(test.database);
    const { submit, lane, dispatcher } = await makeProcess(poolId);
    const earlier = await world.submit({ poolId });
    const next = await world.submit({ poolId });
    const draft = await world.draft({ poolId });
    const recorded = await submit(draft);
    expect(recorded.turns.map(({ job }) => job?.jobId)).toEqual([earlier.id, next.id]);
    await dispatcher.close();
    expect(lane).toEqual([earlier.id, next.id, recorded.id]);
  });

  it('is dispatched after its statement where another process gives turns meanwhile', async () => {
    const { poolId } = await makePool(test.database);
    const { submit, lane, take, dispatcher } = await makeProcess(poolId);
    const draft = await world.draft({ poolId });
    await test.database.transaction(async (tx) => {
      await world.dispatch(poolId, tx);
      const { turns } = await besideTransaction(() => submit(draft));
      expect(turns).toMatchObject([{ job: null, inFlight: null }]);
    });
    await dispatcher.close();
    expect(take.mock.calls.length).toBeGreaterThan(0);
    expect(lane).toEqual([draft.id]);
  });

  it('that is refused gives no turn', async () => {
    const { poolId } = await makePool(test.database);
    const { submit, lane, dispatcher } = await makeProcess(poolId);
    const waiting = await world.submit({ poolId });
    const refused = submit(await world.draft({ poolId, queueLimit: 0 }));
    await expect(refused).rejects.toEqual(new RefusedError(QUEUE_FULL));
    await dispatcher.close();
    expect(lane).toEqual([]);
    expect(await rowsOf(poolId)).toMatchObject([{ delivery: 'waiting' }]);
    await submit(await world.draft({ poolId, accountId: waiting.accountId }));
    await dispatcher.close();
    expect(lane[0]).toBe(waiting.id);
  });

  it('that waits for a lock keeps no other from being dispatched', async () => {
    const { poolId } = await makePool(test.database);
    const { submit, lane, offers, dispatcher } = await makeProcess(poolId);
    const accountId = await makeAccount(test.database, { micros: 1_000_000n });
    const holder = new pg.Client({ connectionString: test.url });
    await holder.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM balances WHERE account_id = $1 FOR UPDATE', [accountId]);
    const late = submit(await world.draft({ poolId, accountId }));
    const other = await submit(await world.draft({ poolId }));
    await eventually('the other job in the lane', () => lane.includes(other.id));
    expect(lane).toEqual([other.id]);
    await holder.end();
    const { id } = await late;
    await dispatcher.close();
    expect(lane).toEqual([other.id, id]);
    // One statement at a time gives the pool's turns.
    expect(offers.map((offer) => offer === null)).toEqual([false, true]);
  });
});

describe('a submission of a pool', () => {
  it('without workers gives no turns', async () => {
    const { poolId, workerId } = await makePool(test.database);
    await test.database.models.worker.delete({ where: { id: workerId } });
    const { submit, lane, offers, dispatcher } = await makeProcess(poolId);
    await submit(await world.draft({ poolId }));
    await dispatcher.close();
    expect([offers, lane]).toEqual([[null], []]);
  });

  it('whose room is not known yet gives none, and is dispatched after its statement', async () => {
    const { poolId } = await makePool(test.database);
    const { submit, lane, offers, dispatcher } = await makeProcess('another pool');
    const { id } = await submit(await world.draft({ poolId }));
    await dispatcher.close();
    expect([offers, lane]).toEqual([[null], [id]]);
  });
});
