import { randomBytes } from 'node:crypto';
import { Prisma } from '@prisma/client';
import { ACCOUNT_CLOSED, AccountErasureStore, SUB_KEY_REVOKED } from '@millrace/accounts';
import { LedgerStore } from '@millrace/billing';
import { newId } from '@millrace/contracts';
import { RefusedError } from '@millrace/database';
import { readSettings } from '@millrace/platform';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import { JobWorld } from '../fixtures/job-world';
import { jobSettings } from '../job.settings';
import { GroupStore } from './group.store';

const ledger = new LedgerStore();

let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test);
});
afterAll(() => test.drop());

describe('a submission', () => {
  it('records job, graph, history, queue and hold together', async () => {
    const job = await world.submit({ metadata: { user: 'u1' } });
    const row = await test.database.models.job.findUniqueOrThrow({ where: { id: job.id }, include: { graph: true } });
    expect(row).toMatchObject({ status: 'queued', delivery: 'waiting', heldMicros: 60_000n, metadata: { user: 'u1' } });
    expect(row.graph?.workflow).toBe(job.workflow);
    expect(await world.history(job.id)).toEqual(['queued']);
    expect(await world.queueOf(job)).toEqual({ waiting: 1, inFlight: 0 });
    expect(await ledger.balance(test.database, job.accountId)).toEqual({
      availableMicros: 940_000n,
      heldMicros: 60_000n,
    });
  });

  it('has a graph that is compressed by lz4 where PostgreSQL was built with it', async () => {
    const [column] = await test.database.rows<{ compression: string; hasLz4: boolean }>(Prisma.sql`
      SELECT a.attcompression::text AS compression,
        (SELECT 'lz4' = ANY (enumvals) FROM pg_settings WHERE name = 'default_toast_compression') AS has_lz4
      FROM pg_attribute a WHERE a.attrelid = 'job_graphs'::regclass AND a.attname = 'workflow'`);
    expect(column?.compression).toBe(column?.hasLz4 === true ? 'l' : '');
  });

  it('refused for want of credits leaves nothing behind, and its key is free again', async () => {
    const accountId = await makeAccount(test.database, { micros: 100n });
    const refused = await world.draft({ accountId, idempotencyKey: 'k1' });
    await expect(world.submissions.record(test.database, refused)).rejects.toEqual(
      new RefusedError('insufficient_credits'),
    );
    expect(await test.database.models.job.count({ where: { accountId } })).toBe(0);
    expect(await test.database.models.idempotencyKey.count({ where: { accountId } })).toBe(0);
    expect(await test.database.models.accountQueue.count({ where: { accountId } })).toBe(0);
    await world.submissions.record(test.database, { ...refused, holdMicros: 100n });
  });

  it('is refused when the account has as many jobs waiting as it may', async () => {
    const first = await world.submit({ queueLimit: 1 });
    const second = await world.draft({ accountId: first.accountId, poolId: first.poolId, queueLimit: 1 });
    await expect(world.submissions.record(test.database, second)).rejects.toEqual(new RefusedError('queue_full'));
  });

  it('of an account that was closed meanwhile is refused', async () => {
    const draft = await world.draft({ idempotencyKey: 'k2' });
    const { accountId } = draft;
    await test.database.transaction((tx) => new AccountErasureStore().close(tx, accountId));
    await expect(world.submissions.record(test.database, draft)).rejects.toEqual(new RefusedError(ACCOUNT_CLOSED));
    expect(await test.database.models.job.count({ where: { accountId } })).toBe(0);
    expect(await test.database.models.idempotencyKey.count({ where: { accountId } })).toBe(0);
  });

  it('by a sub-key that was revoked meanwhile is refused', async () => {
    const subKeyId = newId();
    const { accountId, ...draft } = await world.draft({ idempotencyKey: 'k3', subKeyId });
    const key = { name: 'of a user', keyHash: randomBytes(32), lastFour: 'abcd', scopes: [], labels: { user: 'ada' } };
    await test.database.models.apiKey.create({ data: { id: subKeyId, accountId, ...key } });
    await world.submissions.record(test.database, { ...draft, accountId });
    const ada = { label: 'user', value: 'ada' };
    await test.database.transaction((tx) => new AccountErasureStore().revokeSubKeys(tx, accountId, ada));
    const late = { ...draft, accountId, id: newId(), idempotencyKey: null };
    await expect(world.submissions.record(test.database, late)).rejects.toEqual(new RefusedError(SUB_KEY_REVOKED));
    const groups = new GroupStore(readSettings(jobSettings, {}));
    await expect(groups.record(test.database, [late], 5_000)).rejects.toEqual(new RefusedError(SUB_KEY_REVOKED));
    expect(await test.database.models.job.count({ where: { accountId } })).toBe(1);
  });

  it('sent twenty times at once with one key is accepted once', async () => {
    const one = await world.draft({ idempotencyKey: 'same', queueLimit: 100 });
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => world.submissions.record(test.database, { ...one, id: newId() })),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(19);
    for (const { reason } of refused) expect(reason).toEqual(new RefusedError('idempotency_key_reuse'));
    expect(await test.database.models.job.count({ where: { accountId: one.accountId } })).toBe(1);
  });
});
