import { Prisma } from '@prisma/client';
import type { Caller } from '@millrace/accounts';
import { LedgerStore, billingSettings } from '@millrace/billing';
import { NO_SUBMISSION_DEFAULTS, type NodeCatalogue } from '@millrace/contracts';
import { RefusedError } from '@millrace/database';
import { Metrics, readSettings } from '@millrace/platform';
import { createTestDatabase, makeAccount, makePool, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { addModel } from '../fixtures/models';
import { noDispatcher } from '../fixtures/no-dispatcher';
import { NO_REUSE } from '../fixtures/no-reuse';
import { jobSettings } from '../job.settings';
import { GroupStore } from './group.store';
import { SubmissionChecks } from './submission-checks';
import { SubmissionExaminer } from '../examination';
import { SubmissionGroups } from './submission-groups';
import { SubmissionRecorder } from './submission-recorder';
import { SubmissionService, type Submission } from './submission.service';
import { SubmissionStore } from './submission.store';

const NAME = 'mine.safetensors';
const LOCK_WAIT_MS = 1_000;
const settings = {
  ...readSettings(jobSettings, {}),
  ...readSettings(billingSettings, {}),
  storageBytesPerAccount: 1_000,
};

const examiner = new SubmissionExaminer();
let test: TestDatabase;
let world: JobWorld;
let accountId: string;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterAll(async () => {
  await examiner.close();
  await test.drop();
});
beforeEach(async () => {
  accountId = await makeAccount(test.database, { micros: 1_000_000_000n });
  await addModel(test.database, accountId, NAME);
});

const usedAt = async (): Promise<Date | null | undefined> =>
  (await test.database.models.libraryModel.findFirst({ where: { accountId } }))?.lastUsedAt;
const forget = (): Promise<unknown> =>
  test.database.execute(Prisma.sql`DELETE FROM models WHERE account_id = ${accountId}::uuid`);
const jobs = (): Promise<number> => test.database.models.job.count({ where: { accountId } });
const groups = new GroupStore(settings);

describe('the statement that records a job which names a model of the library', () => {
  it.each(['alone', 'in a group'] as const)('notes the use, %s', async (how) => {
    const named = await world.draft({ accountId, libraryModels: [NAME] });
    if (how === 'alone') await world.submissions.record(test.database, named);
    else await groups.record(test.database, [await world.draft(), named], LOCK_WAIT_MS);
    expect(await usedAt()).toBeInstanceOf(Date);
    expect(await jobs()).toBe(1);
  });

  it.each(['alone', 'in a group'] as const)('records nothing where it is gone, %s', async (how) => {
    const named = await world.draft({ accountId, libraryModels: [NAME], idempotencyKey: 'key' });
    const plain = await world.draft();
    await forget();
    const recording =
      how === 'alone'
        ? world.submissions.record(test.database, named)
        : groups.record(test.database, [plain, named], LOCK_WAIT_MS);
    await expect(recording).rejects.toEqual(new RefusedError('model_gone'));
    expect(await jobs()).toBe(0);
    expect(await test.database.models.job.count({ where: { accountId: plain.accountId } })).toBe(0);
    expect(await test.database.models.idempotencyKey.count({ where: { accountId } })).toBe(0);
  });

  it('is not the statement of a job that names none', async () => {
    const drafts = [await world.draft({ accountId }), await world.draft()];
    expect(groups.recordSql(drafts, LOCK_WAIT_MS).sql).not.toContain('use_models');
    await world.submissions.record(test.database, drafts[0] ?? (await world.draft()));
    expect(await usedAt()).toBeNull();
  });
});

describe('a submission that names a model of the library', () => {
  const catalogue: NodeCatalogue = {
    Load: {
      displayName: 'Load',
      category: '',
      description: '',
      inputs: {
        name: { type: 'COMBO', required: true, options: [], libraryModels: true },
        steps: { type: 'INT', required: false, min: '1' },
      },
      outputs: [],
      outputNode: true,
    },
  };

  /** @param around called before and after each look into the library, with its number. */
  function serviceWith(around: Partial<Record<'before' | 'after', (look: number) => unknown>>): SubmissionService {
    let look = 0;
    const known = async (owner: string, names: readonly string[]): Promise<Set<string>> => {
      look += 1;
      await around.before?.(look);
      const found = await test.database.models.libraryModel.findMany({
        where: { accountId: owner, name: { in: [...names] } },
      });
      await around.after?.(look);
      return new Set(found.map(({ name }) => name));
    };
    const estimates = {
      waiting: () => Promise.resolve(0),
      place: () => Promise.resolve({ position: 1, waitMs: null }),
    };
    const store = new SubmissionStore(settings);
    const recorder = new SubmissionRecorder(
      test.database,
      store,
      new SubmissionGroups(test.database, store, groups, noDispatcher),
      new LedgerStore(),
      { put: () => Promise.resolve(), delete: () => Promise.resolve() },
      noDispatcher,
      settings,
    );
    return new SubmissionService(
      test.database,
      recorder,
      new SubmissionChecks({ resolveForJob: () => Promise.resolve(new Set<string>()) }, { known }, estimates, settings),
      estimates,
      noDispatcher,
      examiner,
      { of: () => Promise.resolve(NO_SUBMISSION_DEFAULTS) },
      NO_REUSE,
      new Metrics('test'),
      settings,
    );
  }

  async function submission(inputs: object = { name: NAME }): Promise<Submission> {
    const { poolId } = await makePool(test.database);
    const caller = { accountId, apiKeyId: null, limits: { weight: 1 }, retentionSeconds: null } as unknown as Caller;
    return {
      caller,
      scope: { accountId, surface: 'cloud', deploymentId: null, labels: null },
      body: Buffer.from(JSON.stringify({ workflow: { '7': { class_type: 'Load', inputs } } })),
      target: () =>
        Promise.resolve({ poolId, catalogue, catalogueDigest: 'test', queueLimit: null, priceMicrosPerSecond: 1_000n }),
      idempotencyKey: undefined,
      traceparent: null,
    };
  }

  it.each([
    ['the library lacks', 'other.safetensors', ['not_in_list', 'below_min'], 1],
    ['the library has', NAME, ['below_min'], 1],
    ['no library may have', 'other.txt', ['not_in_list', 'below_min'], 0],
  ])(
    'is refused for all that is wrong with its graph at once, where it is one that %s',
    async (_, name, reasons, looks) => {
      let looked = 0;
      const service = serviceWith({ after: (look) => (looked = look) });
      const refused: unknown = await service
        .submit(await submission({ name, steps: 0 }))
        .catch((error: unknown) => error);
      expect(refused).toMatchObject({
        code: 'invalid_workflow',
        details: { node_errors: { '7': reasons.map((reason) => expect.objectContaining({ reason }) as unknown) } },
      });
      expect([looked, await jobs()]).toEqual([looks, 0]);
    },
  );

  it('is refused as one that names none where it is deleted after it was looked up, with the node', async () => {
    const service = serviceWith({ after: (look) => (look === 1 ? forget() : null) });
    const refused = service.submit(await submission());
    await expect(refused).rejects.toMatchObject({ code: 'invalid_workflow' });
    await expect(refused).rejects.toThrow(/Node 7: .*The model library has none of this name/);
    expect(await jobs()).toBe(0);
  });

  it('is recorded where it is deleted then, and another of the name is there by the next look', async () => {
    const service = serviceWith({
      before: (look) => (look === 2 ? addModel(test.database, accountId, NAME) : null),
      after: (look) => (look === 1 ? forget() : null),
    });
    await service.submit(await submission());
    expect(await jobs()).toBe(1);
    expect(await usedAt()).toBeInstanceOf(Date);
  });

  it('is refused where it is deleted after each look', async () => {
    let looks = 0;
    const service = serviceWith({
      before: (look) => (look > 1 ? addModel(test.database, accountId, NAME) : null),
      after: (look) => {
        looks = look;
        return forget();
      },
    });
    const refused = service.submit(await submission());
    await expect(refused).rejects.toMatchObject({ code: 'invalid_workflow' });
    await expect(refused).rejects.toMatchObject({ details: { node_errors: { '': [{ reason: 'not_in_list' }] } } });
    expect([looks, await jobs()]).toEqual([3, 0]);
  });
});
