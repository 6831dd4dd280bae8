import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { newId } from '@millrace/contracts';
import { readSettings } from '@millrace/platform';
import { createTestDatabase, eventually, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { DispatchStore } from '../rotation/turn.store';
import type { ClaimedAttempt } from '../state/job';
import { jobSettings } from '../job.settings';
import { LifecycleStore, guards, type Ending } from '../lifecycle/lifecycle.store';
import type { JobDraft } from '../submission/submission';
import { SubmissionStore } from '../submission/submission.store';

const submissions = new SubmissionStore(readSettings(jobSettings, {}));
const lifecycle = new LifecycleStore();
const dispatch = new DispatchStore();

let test: TestDatabase;
let accountId: string;
let poolId: string;
/** A session of our own, which holds locks while a statement waits for them. */
let holder: pg.Client;
/** One that looks which locks that statement has. */
let looker: pg.Client;
beforeAll(async () => {
  test = await createTestDatabase();
  [holder, looker] = [new pg.Client({ connectionString: test.url }), new pg.Client({ connectionString: test.url })];
  await Promise.all([holder.connect(), looker.connect()]);
  accountId = await makeAccount(test.database, { micros: 10_000_000n });
  ({ poolId } = await makePool(test.database));
  await queued();
});
afterAll(async () => {
  await Promise.all([holder.end(), looker.end()]);
  await test.drop();
});

const draft = (): JobDraft => ({
  id: newId(),
  accountId,
  surface: 'cloud',
  deploymentId: null,
  apiKeyId: null,
  poolId,
  workflow: '{"1":{"class_type":"EmptyImage","inputs":{}}}',
  nodeCount: 1,
  inputAssetIds: [],
  metadata: {},
  idempotencyKey: newId(),
  weight: 1,
  runningLimit: 100,
  queueLimit: 100,
  priceMicrosPerSecond: 1_000n,
  holdMicros: 60_000n,
  hasSecrets: false,
  models: [],
  traceparent: null,
});

const ending: Ending = {
  status: 'succeeded',
  cause: 'test',
  failure: null,
  engineMs: 0,
  outcome: 'succeeded',
  progress: null,
  nodes: null,
  log: null,
};

async function queued(): Promise<JobDraft> {
  const made = draft();
  await submissions.record(test.database, made);
  return made;
}

async function running(): Promise<ClaimedAttempt> {
  await queued();
  const next = await dispatch.dispatchNext(test.database, poolId, 100);
  if (next === null) throw new Error('nothing was dispatched');
  const claim = { ...next, workerId: newId(), leaseToken: randomUUID(), leaseSeconds: 10 };
  const claimed = await lifecycle.claim(test.database, claim);
  if (claimed === null) throw new Error('nothing was claimed');
  return claimed;
}

const QUEUE = 'SELECT FROM account_queues WHERE account_id = $1 FOR UPDATE';
const BALANCE = 'SELECT FROM balances WHERE account_id = $1 FOR UPDATE';

/** True when nobody else has the row locked. */
async function isFree(row: string): Promise<boolean> {
  return looker.query(`${row} NOWAIT`, [accountId]).then(
    () => true,
    (error: unknown) => {
      if (error instanceof pg.DatabaseError && error.code === '55P03') return false;
      throw error;
    },
  );
}

const isWaiting = async (): Promise<boolean> => {
  const { rows } = await looker.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
};

describe('a statement that locks both the queue and the balance of an account', () => {
  it.each<[string, () => Promise<() => Promise<unknown>>]>([
    ['records a submission', () => Promise.resolve(() => submissions.record(test.database, draft()))],
    [
      'ends a run',
      async () => {
        const run = await running();
        return () => lifecycle.end(test.database, guards.fence(run), ending);
      },
    ],
    [
      'ends a job that waits',
      async () => {
        const job = await queued();
        return () => lifecycle.end(test.database, guards.queued(job, job.id), { ...ending, status: 'canceled' });
      },
    ],
  ])('and %s takes the queue first, so that no two of them wait for each other', async (_, prepare) => {
    const work = await prepare();
    await holder.query('BEGIN');
    await holder.query(QUEUE, [accountId]);
    const done = work();
    try {
      await eventually('the statement to wait', isWaiting);
      expect(await isFree(BALANCE)).toBe(true);
    } finally {
      await holder.query('ROLLBACK');
      await done;
    }
  });
});
