import { randomUUID } from 'node:crypto';
import type { Prisma } from '@prisma/client';
import type { Caller } from '@millrace/accounts';
import { LedgerStore, billingSettings } from '@millrace/billing';
import { NO_SUBMISSION_DEFAULTS, Refusal, type NodeCatalogue, type NodeClass } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { Metrics, readSettings } from '@millrace/platform';
import { WorkerStore, type Target } from '@millrace/deployments';
import { createTestDatabase, eventually, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { jobSettings } from '../job.settings';
import { AccountQueueStore } from '../rotation/account-queue.store';
import { QueueEstimates } from '../rotation/queue-estimates';
import { SubmissionChecks } from './submission-checks';
import { SubmissionExaminer } from '../examination';
import { SubmissionRecorder } from './submission-recorder';
import { SubmissionService, type Submission } from './submission.service';
import { GroupStore } from './group.store';
import { SubmissionGroups } from './submission-groups';
import { type noDispatcher } from '../fixtures/no-dispatcher';
import { NO_REUSE } from '../fixtures/no-reuse';
import { SubmissionStore } from './submission.store';

const noModels = { known: () => Promise.resolve(new Set<string>()) };

const settings = {
  ...readSettings(jobSettings, {}),
  ...readSettings(billingSettings, {}),
  storageBytesPerAccount: 1_000,
};
const show: NodeClass = {
  displayName: 'Show',
  category: '',
  description: '',
  inputs: {},
  outputs: [],
  outputNode: true,
};
const catalogue: NodeCatalogue = { Show: show };
const BODY = '{"workflow":{"1":{"class_type":"Show","inputs":{}}},"metadata":{"a":"b"}}';

const examiner = new SubmissionExaminer();
const store = new SubmissionStore(settings);

let test: TestDatabase;
/** The text of every statement that was sent. */
let sent: string[];
let kept: Set<string>;
/** What the dispatcher was asked, and after how many writing statements. */
let dispatching: string[];
let poolId: string;
let metrics: Metrics;
let counted: Statements;
let service: SubmissionService;
beforeAll(async () => {
  test = await createTestDatabase();
  ({ poolId } = await makePool(test.database));
});
afterAll(async () => {
  await examiner.close();
  await test.drop();
});
beforeEach(() => {
  sent = [];
  kept = new Set();
  dispatching = [];
  counted = {
    models: test.database.models,
    query: <T>(sql: Prisma.Sql) => {
      sent.push(sql.sql);
      return test.database.query<T>(sql);
    },
    rows: <T>(sql: Prisma.Sql) => {
      sent.push(sql.sql);
      return test.database.rows<T>(sql);
    },
    execute: (sql) => {
      sent.push(sql.sql);
      return test.database.execute(sql);
    },
  };
  metrics = new Metrics('test');
  // However slow the machine is, no snapshot of a pool ages in a test that counts statements.
  service = serviceWith(
    counted,
    estimatesBy(() => 0),
  );
});

function estimatesBy(now?: () => number): QueueEstimates {
  return new QueueEstimates(counted, new AccountQueueStore(), new WorkerStore(), now);
}

type Assets = ConstructorParameters<typeof SubmissionChecks>[0];

const noAssets: Assets = { resolveForJob: () => Promise.resolve(new Set<string>()) };

function serviceWith(
  counted: Statements,
  estimates: Pick<QueueEstimates, 'waiting' | 'place'>,
  assets = noAssets,
): SubmissionService {
  const dispatcher: typeof noDispatcher = {
    expectDispatch: () => void dispatching.push(`expected after ${writes().length}`),
    requestDispatch: () => void dispatching.push(`requested after ${writes().length}`),
    dispatchWith: async (poolId, work) => {
      const done = await work(null);
      dispatcher.requestDispatch(poolId);
      return done;
    },
  };
  const recorder = new SubmissionRecorder(
    counted,
    store,
    new SubmissionGroups(counted, store, new GroupStore(settings), dispatcher),
    new LedgerStore(),
    {
      put: ({ jobId }) => Promise.resolve(void kept.add(jobId)),
      delete: (id: string) => Promise.resolve(void kept.delete(id)),
    },
    dispatcher,
    settings,
  );
  return new SubmissionService(
    counted,
    recorder,
    new SubmissionChecks(assets, noModels, estimates, settings),
    estimates,
    dispatcher,
    examiner,
    { of: () => Promise.resolve(NO_SUBMISSION_DEFAULTS) },
    NO_REUSE,
    metrics,
    settings,
  );
}

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

type Changes = Partial<Omit<Submission, 'body'>> & { body?: string };

async function submission({ body = BODY, ...changes }: Changes = {}, micros = 1_000_000_000n): Promise<Submission> {
  const accountId = await makeAccount(test.database, { micros });
  const caller: Caller = {
    accountId,
    apiKeyId: null,
    scopes: new Set(),
    labels: null,
    accountStatus: 'active',
    limits,
  };
  sent = [];
  return {
    caller,
    scope: { accountId, surface: 'cloud', deploymentId: null, labels: null },
    body: Buffer.from(body),
    target: () =>
      Promise.resolve({ poolId, catalogue, catalogueDigest: 'test', queueLimit: null, priceMicrosPerSecond: 1_000n }),
    idempotencyKey: randomUUID(),
    traceparent: null,
    ...changes,
  };
}

const writes = (): string[] => sent.filter((sql) => /\b(INSERT|UPDATE|DELETE)\b/.test(sql));

describe('a submission', () => {
  it('writes with one statement, after its reads: key, place, hold, job, graph and history together', async () => {
    await service.submit(await submission());
    expect(writes()).toHaveLength(1);
    expect(writes()).toEqual(sent.slice(-1));
    for (const table of ['idempotency_keys', 'account_queues', 'balances', 'jobs', 'job_graphs', 'job_transitions']) {
      expect(writes()[0]).toMatch(new RegExp(`(INSERT INTO|UPDATE) ${table}`));
    }
  });

  it('says that a dispatch comes before it writes, and requests it when it has', async () => {
    await service.submit(await submission());
    expect(dispatching).toEqual(['expected after 0', 'requested after 1']);
  });

  it('sends one statement alone while the snapshot of the pool is fresh', async () => {
    await service.submit(await submission());
    const next = await submission();
    await service.submit(next);
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['{"workflow":{"1":{"class_type":"Hide","inputs":{}}}}', 'invalid_workflow'],
    ['{"workflow":{"nodes":[],"links":[]}}', 'workflow_format_ui'],
    ['{', 'invalid_request'],
  ])('that is refused by its body writes nothing: %s', async (body, code) => {
    const refused = service.submit(await submission({ body }));
    await expect(refused).rejects.toMatchObject({ code });
    expect(writes()).toEqual([]);
  });

  it('that asks for a target only when its body can be read refuses the body first', async () => {
    const target = (): Promise<never> => Promise.reject(new Refusal('deployment_not_ready', 'It is starting.'));
    await expect(service.submit(await submission({ body: '{}', target }))).rejects.toMatchObject({
      code: 'invalid_request',
    });
    await expect(service.submit(await submission({ target }))).rejects.toMatchObject({ code: 'deployment_not_ready' });
  });

  it('is refused with a time to wait while its pool is full', async () => {
    const full = await makePool(test.database);
    const target = (): Promise<Target> =>
      Promise.resolve({
        poolId: full.poolId,
        catalogue,
        catalogueDigest: 'test',
        queueLimit: 1,
        priceMicrosPerSecond: 1_000n,
      });
    const aging = serviceWith(counted, estimatesBy());
    await aging.submit(await submission({ target }));
    await eventually('a new snapshot of the pool', async () => {
      const refused: unknown = await aging.submit(await submission({ target })).catch((error: unknown) => error);
      if (!(refused instanceof Refusal)) return false;
      expect(refused).toMatchObject({ code: 'queue_full', retryAfterSeconds: expect.any(Number) as number });
      return true;
    });
    await service.submit(await submission());
  });

  it('is refused while the storage of its account is full, and not once some of it is free', async () => {
    const key = randomUUID();
    const asked = await submission({ idempotencyKey: key });
    const { accountId } = asked.caller;
    const hash = `blake3:${'ab'.repeat(32)}`;
    await test.database.models.blob.create({ data: { accountId, hash, sizeBytes: 1_000n } });
    const body = Buffer.from(BODY);
    await expect(service.submit(asked)).rejects.toMatchObject({ code: 'storage_full', status: 422 });
    const roomier = { ...asked.caller, limits: { ...limits, storageBytes: 1_001 } };
    await service.submit({ ...asked, body: Buffer.from(body), caller: roomier, idempotencyKey: randomUUID() });
    await test.database.models.blob.deleteMany({ where: { accountId } });
    await service.submit({ ...asked, body: Buffer.from(body), idempotencyKey: key });
  });

  it('that names models keeps them with the job', async () => {
    const ckpt_name = { type: 'COMBO', required: true };
    const loads: NodeCatalogue = { Show: { ...show, inputs: { ckpt_name } } };
    const body = '{"workflow":{"1":{"class_type":"Show","inputs":{"ckpt_name":"a.safetensors"}}}}';
    const target = (): Promise<Target> =>
      Promise.resolve({
        poolId,
        catalogue: loads,
        catalogueDigest: 'test',
        queueLimit: null,
        priceMicrosPerSecond: 1_000n,
      });
    const { job } = await service.submit(await submission({ body, target }));
    const row = await test.database.models.job.findUniqueOrThrow({ where: { id: job.id } });
    expect(row.models).toEqual(['a.safetensors']);
  });

  it('that is refused is looked up by its key together with those refused beside it, and each is answered by its own', async () => {
    const asked = await submission({ body: '{}' });
    const [used, other] = [asked, { ...asked, idempotencyKey: randomUUID() }];
    await service.submit({ ...used, body: Buffer.from(BODY) });
    sent = [];
    const outcomes = await Promise.all(
      [used, other, used, await submission({ body: '{}', idempotencyKey: used.idempotencyKey })].map((repeated) =>
        service.submit({ ...repeated, body: Buffer.from('{}') }).catch((error: unknown) => (error as Refusal).code),
      ),
    );
    expect(outcomes).toEqual(['idempotency_key_reuse', 'invalid_request', 'idempotency_key_reuse', 'invalid_request']);
    expect(sent).toHaveLength(1);
  });

  it('that is refused by its writing statement keeps no credential', async () => {
    const body = BODY.replace('}}}', '}}},"extra_data":{"api_key_vendor_org":"k"}');
    await expect(service.submit(await submission({ body }, 0n))).rejects.toMatchObject({
      code: 'insufficient_credits',
    });
    expect(kept.size).toBe(0);
    await service.submit(await submission({ body }));
    expect(kept.size).toBe(1);
  });

  it('whose asset is deleted after it was looked up is refused as one that names none, with the place', async () => {
    const id = randomUUID();
    const workflow = { '1': { class_type: 'Show', inputs: { image: { __type: 'core/ASSET', info: { id } } } } };
    const key = randomUUID();
    const asked = await submission({ body: JSON.stringify({ workflow }), idempotencyKey: key });
    const row = { accountId: asked.caller.accountId, hash: `blake3:${'0'.repeat(64)}`, sizeBytes: 1n };
    await test.database.models.blob.create({ data: row });
    await test.database.models.asset.create({ data: { id, contentType: 'a/b', ...row } });
    const assets: Assets = {
      resolveForJob: async () => {
        const { count } = await test.database.models.asset.deleteMany({ where: { id } });
        return new Set(count === 0 ? [] : [id]);
      },
    };
    await expect(serviceWith(counted, estimatesBy(), assets).submit(asked)).rejects.toMatchObject({
      code: 'missing_asset',
      details: { references: [{ node_id: '1', field: 'image', asset_id: id }] },
    });
    await service.submit({ ...asked, body: Buffer.from(BODY), idempotencyKey: key });
  });

  it('that has committed is answered, though its place in the queue cannot be looked up', async () => {
    const estimates = {
      waiting: () => Promise.resolve(0),
      place: () => Promise.reject(new Error('the connection was lost')),
    };
    const { job, place } = await serviceWith(test.database, estimates).submit(await submission());
    expect([job.status, place?.position]).toEqual(['queued', 1]);
  });

  it('is counted by what came of it', async () => {
    await service.submit(await submission());
    const failing = (): Promise<never> => Promise.reject(new Error('the connection was lost'));
    for (const changes of [{ body: '{' }, { target: failing }, { target: failing }]) {
      await expect(service.submit(await submission(changes))).rejects.toThrow();
    }
    const { values } = await metrics.submissions.get();
    expect(Object.fromEntries(values.map(({ labels, value }) => [labels.outcome, value]))).toEqual({
      accepted: 1,
      invalid_request: 1,
      upstream_error: 2,
    });
  });
});
