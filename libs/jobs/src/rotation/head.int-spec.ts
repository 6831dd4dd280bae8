import fc from 'fast-check';
import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { besideTransaction } from '@millrace/database';
import { readSettings } from '@millrace/platform';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobAudit } from '../audit/job-audit';
import { JobWorld, endingOf } from '../fixtures/job-world';
import { jobSettings } from '../job.settings';
import { endJob } from '../lifecycle/end.store';
import { handBackAttempt } from '../lifecycle/release.store';
import type { ClaimedAttempt } from '../state';
import { GroupStore } from '../submission/group.store';
import { ONE_TURN, TurnStore, type DispatchedJob, type Watermarks } from './turn.store';

const turns = new TurnStore();
const groups = new GroupStore(readSettings(jobSettings, {}));
/** Nothing is behind them; a turn from watermarks begins at the head. */
const EVERYTHING: Watermarks = { pass: -1n, inFlightSince: new Date(0) };
const ROOM = 100;

let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterAll(() => test.drop());

interface Queue {
  poolId: string;
  accountId: string;
}

async function makeQueue(): Promise<Queue> {
  return { poolId: (await makePool(test.database)).poolId, accountId: await makeAccount(test.database) };
}

/** Ids in the order in which jobs with them wait. */
const idsOf = (count: number): string[] => Array.from({ length: count }, newId).sort();

async function submit(queue: Queue, id: string): Promise<void> {
  await world.submit({ ...queue, id, holdMicros: 0n });
}

async function turn({ poolId }: Queue, watermarks: Watermarks | null = EVERYTHING): Promise<DispatchedJob | null> {
  return (await turns.take(test.database, poolId, ROOM, { ...ONE_TURN, watermarks }))[0].job;
}

async function headOf(queue: Queue): Promise<string | null> {
  const { headId } = await test.database.models.accountQueue.findUniqueOrThrow({ where: { poolId_accountId: queue } });
  return headId;
}

async function audit(): Promise<void> {
  for await (const finding of new JobAudit(test.database).findings()) throw new Error(JSON.stringify(finding));
}

describe("the head of an account's queue", () => {
  it('is the first job that waited at its last turn', async () => {
    const queue = await makeQueue();
    const ids = idsOf(3);
    for (const id of ids) await submit(queue, id);
    for (const id of ids) expect([(await turn(queue))?.jobId, await headOf(queue)]).toEqual([id, id]);
    expect(await turn(queue)).toBeNull();
  });

  it('stays where it is when a later job has the turn, because another statement has the first one locked', async () => {
    const queue = await makeQueue();
    const [first = '', second = ''] = idsOf(2);
    for (const id of [first, second]) await submit(queue, id);
    await test.database.transaction(async (tx) => {
      await tx.query(Prisma.sql`SELECT FROM jobs WHERE id = ${first}::uuid FOR UPDATE`);
      expect((await besideTransaction(() => turn(queue)))?.jobId).toBe(second);
    });
    expect(await headOf(queue)).toBe(first);
    expect((await turn(queue))?.jobId).toBe(first);
    await audit();
  });

  it('is not known while a job of a higher priority has been first, and such a job goes first', async () => {
    const queue = await makeQueue();
    const [first = '', second = '', third = ''] = idsOf(3);
    for (const id of [first, second, third]) await submit(queue, id);
    const prioritise = (id: string, priority: number): Promise<unknown> =>
      test.database.models.job.update({ where: { id }, data: { priority } });
    await prioritise(first, -1);
    await prioritise(third, 5);
    expect([(await turn(queue, null))?.jobId, await headOf(queue)]).toEqual([third, null]);
    expect([(await turn(queue))?.jobId, await headOf(queue)]).toEqual([second, second]);
    expect([(await turn(queue))?.jobId, await headOf(queue)]).toEqual([first, null]);
  });

  it('is not known once a job in flight waits again, in the statement of an earlier version as well', async () => {
    const queue = await makeQueue();
    const [first = '', second = ''] = idsOf(2);
    for (const id of [first, second]) await submit(queue, id);
    for (const id of [first, second]) expect((await turn(queue))?.jobId).toBe(id);
    await test.database.execute(Prisma.sql`
      WITH job AS (UPDATE jobs SET delivery = 'waiting', dispatched_at = NULL WHERE id = ${first}::uuid)
      UPDATE account_queues SET in_flight = in_flight - 1, waiting = waiting + 1
      WHERE pool_id = ${queue.poolId} AND account_id = ${queue.accountId}::uuid`);
    expect(await headOf(queue)).toBeNull();
    expect((await turn(queue))?.jobId).toBe(first);
    await audit();
  });

  it('is looked behind by a turn from the start', async () => {
    const queue = await makeQueue();
    const [first = '', second = '', third = ''] = idsOf(3);
    for (const id of [second, first, third]) await submit(queue, id);
    await test.database.models.accountQueue.update({ where: { poolId_accountId: queue }, data: { headId: second } });
    expect((await turn(queue))?.jobId).toBe(second);
    expect((await turn(queue, null))?.jobId).toBe(first);
    await audit();
  });
});

const KINDS = ['submit', 'group', 'turn', 'back', 'cancel'] as const;
type Kind = (typeof KINDS)[number];

const step = fc.record({ kind: fc.constantFrom<Kind>(...KINDS, 'turn', 'turn'), nth: fc.nat({ max: 20 }) });

/** What waits and what runs, as it must be. */
class Model {
  readonly waiting = new Set<string>();
  readonly running: ClaimedAttempt[] = [];
  private readonly ids = idsOf(200);

  /** An id of its own, in any order. */
  nextId(nth: number): string {
    const [id] = this.ids.splice((nth * 7) % this.ids.length, 1);
    if (id === undefined) throw new Error('there are as many ids as steps');
    this.waiting.add(id);
    return id;
  }
}

const STEPS: Record<Kind, (queue: Queue, model: Model, nth: number) => Promise<void>> = {
  submit: async (queue, model, nth) => submit(queue, model.nextId(nth)),
  group: async (queue, model, nth) => {
    const ids = [model.nextId(nth), model.nextId(nth + 3)].sort();
    const drafts = await Promise.all(ids.map((id) => world.draft({ ...queue, id, holdMicros: 0n })));
    await groups.record(test.database, drafts, 1_000);
  },
  turn: async (queue, { waiting, running }) => {
    const dispatched = await turn(queue);
    expect(dispatched?.jobId).toBe([...waiting].sort()[0]);
    if (dispatched === null) return;
    waiting.delete(dispatched.jobId);
    const claimed = await world.claim(dispatched);
    if (claimed !== null) running.push(claimed);
  },
  back: async (_queue, { waiting, running }, nth) => {
    const [attempt] = running.splice(nth % Math.max(1, running.length), 1);
    if (attempt === undefined) return;
    await handBackAttempt(test.database, attempt);
    waiting.add(attempt.jobId);
  },
  cancel: async ({ accountId }, { waiting }, nth) => {
    const id = [...waiting][nth % Math.max(1, waiting.size)];
    if (id === undefined) return;
    const scope = { accountId, surface: 'cloud', deploymentId: null, labels: null } as const;
    const ended = await endJob(test.database, { kind: 'queued', scope, jobId: id }, endingOf('canceled_while_queued'));
    // One that has run before is to be canceled by its worker.
    if (ended !== null) waiting.delete(id);
  },
};

describe('turns from the head on', () => {
  it('take the jobs of an account in their order, while others come, come back and go', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 40 }), async (steps) => {
        const [queue, model] = [await makeQueue(), new Model()];
        for (const { kind, nth } of steps) await STEPS[kind](queue, model, nth);
        await audit();
      }),
      { numRuns: 25 },
    );
  });
});
