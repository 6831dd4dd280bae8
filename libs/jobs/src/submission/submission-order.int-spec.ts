import { assetSettings } from '@millrace/assets';
import { LedgerStore, billingSettings } from '@millrace/billing';
import { NO_SUBMISSION_DEFAULTS, createdAtOf, type NodeCatalogue } from '@millrace/contracts';
import { WorkerStore } from '@millrace/deployments';
import { Metrics, readSettings } from '@millrace/platform';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { countAhead } from '../fixtures/count-ahead';
import { JobStore } from '../follow/job.store';
import { jobSettings } from '../job.settings';
import { AccountQueueStore, QueueEstimates, TurnStore } from '../rotation';
import { ONE_TURN } from '../rotation/turn.store';
import type { JobScope } from '../state';
import { SubmissionChecks } from './submission-checks';
import { SubmissionExaminer } from '../examination';
import { GroupStore } from './group.store';
import { SubmissionGroups } from './submission-groups';
import { SubmissionRecorder } from './submission-recorder';
import { SubmissionService } from './submission.service';
import { noDispatcher } from '../fixtures/no-dispatcher';
import { NO_REUSE } from '../fixtures/no-reuse';
import { SubmissionStore } from './submission.store';

const noModels = { known: () => Promise.resolve(new Set<string>()) };

/** Ids of the clock as it is, as on hosts of their own: within one process they never go back. */
jest.mock('uuid', () => {
  const { v7 } = jest.requireActual<typeof import('uuid')>('uuid');
  return { v7: () => v7({ msecs: Date.now() }) };
});

const MINUTE_MS = 60_000;
const catalogue: NodeCatalogue = {
  Show: { displayName: 'Show', category: '', description: '', inputs: {}, outputs: [], outputNode: true },
};
const settings = readSettings({ ...jobSettings, ...billingSettings, ...assetSettings }, {});
const limits = {
  weight: 1,
  runningLimit: null,
  queueLimit: null,
  requestsPerMinute: null,
  streamLimit: null,
  uploadBytesPerDay: null,
  storageBytes: null,
  deploymentLimit: null,
  deploymentWorkerLimit: null,
};
const examiner = new SubmissionExaminer();
const store = new SubmissionStore(settings);
const jobs = new JobStore();

let test: TestDatabase;
let service: SubmissionService;
let scope: JobScope;
let poolId: string;
beforeAll(async () => {
  test = await createTestDatabase();
  const estimates = new QueueEstimates(test.database, new AccountQueueStore(), new WorkerStore());
  const recorder = new SubmissionRecorder(
    test.database,
    store,
    new SubmissionGroups(test.database, store, new GroupStore(settings), noDispatcher),
    new LedgerStore(),
    { put: () => Promise.resolve(), delete: () => Promise.resolve() },
    noDispatcher,
    settings,
  );
  service = new SubmissionService(
    test.database,
    recorder,
    new SubmissionChecks({ resolveForJob: () => Promise.resolve(new Set<string>()) }, noModels, estimates, settings),
    estimates,
    noDispatcher,
    examiner,
    { of: () => Promise.resolve(NO_SUBMISSION_DEFAULTS) },
    NO_REUSE,
    new Metrics('test'),
    settings,
  );
});
beforeEach(async () => {
  ({ poolId } = await makePool(test.database));
  const accountId = await makeAccount(test.database, { micros: 1_000_000_000n });
  scope = { accountId, surface: 'cloud', deploymentId: null, labels: null };
});
afterEach(() => jest.restoreAllMocks());
afterAll(async () => {
  await examiner.close();
  await test.drop();
});

/** Submit a job through a host whose clock is this far from that of the others. @returns its id. */
async function submitThrough(clockOffsetMs: number): Promise<string> {
  const now = Date.now;
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() + clockOffsetMs);
  const { job } = await service.submit({
    caller: {
      accountId: scope.accountId,
      apiKeyId: null,
      scopes: new Set(),
      labels: null,
      accountStatus: 'active',
      limits,
    },
    scope,
    body: Buffer.from('{"workflow":{"1":{"class_type":"Show","inputs":{}}}}'),
    target: () =>
      Promise.resolve({ poolId, catalogue, catalogueDigest: 'test', queueLimit: null, priceMicrosPerSecond: 1_000n }),
    idempotencyKey: undefined,
    traceparent: null,
  });
  clock.mockRestore();
  return job.id;
}

describe('jobs that an account submits one after the other, through hosts whose clocks differ by minutes', () => {
  const OFFSETS_MS = [MINUTE_MS, 0, -MINUTE_MS, 2 * MINUTE_MS];
  let submitted: string[];
  beforeEach(async () => {
    submitted = [];
    for (const offsetMs of OFFSETS_MS) submitted.push(await submitThrough(offsetMs));
  });

  it('run in the order of their submission', async () => {
    const turns = new TurnStore();
    const taken: (string | undefined)[] = [];
    for (const _ of submitted) taken.push((await turns.take(test.database, poolId, 100, ONE_TURN))[0].job?.jobId);
    expect(taken).toEqual(submitted);
  });

  it('are listed in that order, page by page', async () => {
    const filter = { status: null, metadata: {}, since: null, limit: 2 };
    const { jobs: first } = await jobs.list(test.database, scope, { ...filter, before: null });
    const { jobs: second } = await jobs.list(test.database, scope, { ...filter, before: first.at(-1)?.id ?? null });
    expect([...first, ...second].map((job) => job.id)).toEqual([...submitted].reverse());
  });

  it('know how many are before them', async () => {
    const accountId = scope.accountId;
    const ahead = await Promise.all(submitted.map((id) => countAhead(test.database, { id, poolId, accountId })));
    expect(ahead).toEqual([0, 1, 2, 3]);
    const page = submitted.map((id) => ({ id, poolId }));
    const ofEach = await jobs.countAheadOfEach(test.database, accountId, page);
    expect(submitted.map((id) => ofEach.get(id))).toEqual([0, 1, 2, 3]);
  });
});

it('ids sort by the microsecond at which PostgreSQL made them', async () => {
  const ids: string[] = [];
  for (let nth = 0; nth < 100; nth += 1) ids.push(await store.newId(test.database));
  expect([...ids].sort()).toEqual(ids);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Math.abs(createdAtOf(ids[0] ?? '') - Date.now())).toBeLessThan(MINUTE_MS);
});
