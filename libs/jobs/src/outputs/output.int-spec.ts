import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { Prisma } from '@prisma/client';
import { besideTransaction, type Statements } from '@millrace/database';
import { createTestDatabase, eventually, makeAccount, type TestDatabase } from '@millrace/testing';
import { endingOf } from '../fixtures/job-world';
import { OutputJobs, rowOf } from '../fixtures/output-jobs';
import type { ClaimedAttempt } from '../state/job';
import { requestCancel } from '../lifecycle/cancel.store';
import { endJob } from '../lifecycle/end.store';
import { takeBackAttempt } from '../lifecycle/release.store';
import type { OutputDraft } from './output-recorder';
import { wholeAccount } from '@millrace/assets';

const MISSING = { name: 'BlobStoreError', fault: 'missing' };

let test: TestDatabase;
let world: OutputJobs;
/** A session that looks which rows are locked. */
let looker: pg.Client;
beforeAll(async () => {
  test = await createTestDatabase();
  looker = new pg.Client({ connectionString: test.url });
  await looker.connect();
});
afterAll(async () => {
  await looker.end();
  await test.drop();
});
beforeEach(async () => {
  world = await OutputJobs.make(test);
});
afterEach(() => world.drop());

/** Dispatch and claim the next attempt there is. */
async function started(): Promise<ClaimedAttempt> {
  const claimed = await world.jobs.start();
  if (claimed === null) throw new Error('nothing was claimed');
  return claimed;
}

async function running(): Promise<ClaimedAttempt> {
  await world.jobs.submit(0n, 0n);
  return started();
}

/** The attempt after one that was lost. */
async function after(lost: ClaimedAttempt): Promise<ClaimedAttempt> {
  await world.jobs.lose(lost);
  return started();
}

const isWaiting = async (): Promise<boolean> => {
  const { rows } = await looker.query(
    `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.length > 0;
};

/** Begin `later` while what `first` did has not committed, and commit that once it waits: its snapshot is older then. */
async function behind<T>(
  first: (tx: Statements) => Promise<unknown>,
  later: () => Promise<T>,
  /** What holds while it waits. */
  look: () => Promise<unknown> = () => Promise.resolve(),
): Promise<T> {
  let waiting: Promise<T> | undefined;
  await test.database.transaction(async (tx) => {
    await first(tx);
    waiting = besideTransaction(later);
    waiting.catch(() => undefined);
    await eventually('a statement to wait', isWaiting);
    await besideTransaction(look);
  });
  if (waiting === undefined) throw new Error('nothing was begun');
  return waiting;
}

const condemnAll = (tx: Statements): Promise<unknown> =>
  tx.execute(Prisma.sql`
    UPDATE blobs SET orphaned_at = '-infinity' WHERE account_id = ${world.jobs.accountId}::uuid`);

describe('an output', () => {
  it('becomes an asset that expires with its job', async () => {
    const run = await running();
    expect(await world.record(run, 'made')).toBe(true);
    const [output] = await world.outputs(run.jobId);
    expect(output).toMatchObject({ nodeIndex: 0, attempt: 1, text: 'made' });
    const asset = await world.assets.assets.get(wholeAccount(world.jobs.accountId), output?.assetId ?? '');
    const job = await test.database.models.job.findUniqueOrThrow({ where: { id: run.jobId } });
    expect(asset).toMatchObject({ jobId: run.jobId, filePath: '0.txt', expiresAt: job.expiresAt });
    expect(await world.blobs()).toEqual([{ live: true, assets: 1 }]);
  });

  it('of an attempt that has lost its lease is not recorded, and its bytes are an orphan', async () => {
    const lost = await running();
    await after(lost);
    for (const fence of [lost, { ...lost, attempt: 2 }, { ...lost, leaseToken: randomUUID() }]) {
      expect(await world.record(fence, 'made')).toBe(false);
    }
    expect(await world.outputs(lost.jobId)).toEqual([]);
    expect(await world.blobs()).toEqual([{ live: false, assets: 0 }]);
  });

  it('takes the name of what a lost attempt recorded in another place: a job shows each name once', async () => {
    const lost = await running();
    await world.record(lost, 'first', 0);
    await world.record(lost, 'beside it', 1);
    await world.record(lost, 'left alone', 2);
    const next = await after(lost);
    const swapped = { ...(await world.stored('second', 1)), name: '0.TXT' };
    expect(await world.recorder.record(next, swapped)).toBe(true);
    const outputs = await world.outputs(next.jobId);
    expect(outputs).toMatchObject([
      { nodeIndex: 1, attempt: 2, text: 'second' },
      { nodeIndex: 2, attempt: 1, text: 'left alone' },
    ]);
    expect(await world.recorder.record(next, { ...(await world.stored('third', 0)), name: '1.txt' })).toBe(true);
    expect(await world.recorder.record(next, swapped)).toBe(true);
    expect((await world.outputs(next.jobId)).map(({ nodeIndex, text }) => [nodeIndex, text])).toEqual([
      [0, 'third'],
      [1, 'second'],
      [2, 'left alone'],
    ]);
    await world.runLoop('expire-assets');
    expect(await world.keptAssets(next.jobId)).toHaveLength(5);
  });

  it('takes the place of what a lost attempt recorded, which is there until the job expires: it was named', async () => {
    const lost = await running();
    await world.record(lost, 'first');
    await world.record(lost, 'beside it', 1);
    const named = (await world.outputs(lost.jobId)).map(({ assetId }) => assetId);
    const next = await after(lost);
    expect(await world.record(next, 'second')).toBe(true);
    const outputs = await world.outputs(next.jobId);
    expect(outputs).toMatchObject([
      { nodeIndex: 0, attempt: 2, text: 'second' },
      { nodeIndex: 1, attempt: 1, text: 'beside it' },
    ]);
    await world.runLoop('expire-assets');
    const kept = await world.keptAssets(next.jobId);
    expect(kept.sort()).toEqual([...new Set([...named, ...outputs.map(({ assetId }) => assetId)])].sort());
    expect(kept).toHaveLength(3);
    // Nothing refers to it any more: its owner may delete it. What is shown is in use.
    const remove = (id = ''): Promise<void> => world.assets.assets.remove(wholeAccount(world.jobs.accountId), id);
    await remove(named[0]);
    await expect(remove(outputs[0]?.assetId)).rejects.toMatchObject({ code: 'asset_in_use' });
    expect(await world.keptAssets(next.jobId)).toHaveLength(2);
  });

  it.each(['nodeId', 'name'] as const)('is refused where its %s is wider than an index takes', async (field) => {
    const run = await running();
    const draft = { ...(await world.stored('made')), [field]: randomBytes(2_650).toString('hex') };
    await expect(world.recorder.record(run, draft)).rejects.toMatchObject({
      name: 'OutputRefused',
      message: expect.stringContaining('too long') as string,
    });
    expect(await world.outputs(run.jobId)).toEqual([]);
    expect(await world.record(run, 'made')).toBe(true);
  });

  it('is refused beyond as many as a job may have, and takes the place of one all the same', async () => {
    const run = await running();
    const recorder = world.recorderFor({ maxOutputsPerJob: 2 });
    for (const index of [0, 1, 0, 1]) expect(await recorder.record(run, await world.stored('made', index))).toBe(true);
    await expect(recorder.record(run, await world.stored('made', 2))).rejects.toMatchObject({ name: 'OutputRefused' });
    const next = await after(run);
    for (const index of [2, 3]) expect(await recorder.record(next, await world.stored('made', index))).toBe(true);
  });

  it('of the same bytes, name and content type as the one it replaces keeps its asset', async () => {
    const lost = await running();
    await world.record(lost, 'same');
    const [before] = await world.outputs(lost.jobId);
    const next = await after(lost);
    await world.record(next, 'same');
    expect(await world.outputs(next.jobId)).toEqual([{ ...before, attempt: 2 }]);
    await world.runLoop('expire-assets');
    await world.runLoop('sweep-blobs');
    expect(await world.outputs(next.jobId)).toMatchObject([{ attempt: 2, text: 'same' }]);
    expect(await world.blobs()).toEqual([{ live: true, assets: 1 }]);
    const draft = await world.stored('same');
    for (const [field, other] of [
      ['name', 'another.txt'],
      ['contentType', 'text/html'],
    ] as const) {
      await world.recorder.record(next, { ...draft, [field]: other });
    }
    expect(await world.blobs()).toEqual([{ live: true, assets: 3 }]);
  });

  it('whose bytes were swept before it was recorded must be stored again, and nothing changes', async () => {
    const lost = await running();
    await world.record(lost, 'first');
    const next = await after(lost);
    const draft = await world.stored('second');
    await eventually('the orphan to be swept', async () => {
      await world.runLoop('sweep-blobs');
      return (await world.blobs()).length === 1;
    });
    await expect(world.recorder.record(next, draft)).rejects.toMatchObject(MISSING);
    expect(await world.outputs(next.jobId)).toMatchObject([{ attempt: 1, text: 'first' }]);
    expect(await world.keptAssets(next.jobId)).toHaveLength(1);
  });

  it('is never made of bytes of another account', async () => {
    const run = await running();
    const draft = await world.stored('made');
    const accountId = await makeAccount(test.database);
    const { hash } = draft.blob;
    const { createdAt: bornAt } = await test.database.models.blob.create({ data: { accountId, hash, sizeBytes: 4n } });
    const foreign = { ...draft, blob: { ...draft.blob, accountId, bornAt } };
    await expect(world.recorder.record(run, foreign)).rejects.toMatchObject(MISSING);
    expect(await world.outputs(run.jobId)).toEqual([]);
  });
});

describe('an output that is recorded while', () => {
  it('its job ends is not recorded', async () => {
    const run = await running();
    const draft = await world.stored('made');
    const ended = (tx: Statements): Promise<unknown> =>
      endJob(tx, { kind: 'fence', fence: run }, endingOf('node_failed'));
    expect(await behind(ended, () => world.recorder.record(run, draft))).toBe(false);
    expect(await world.outputs(run.jobId)).toEqual([]);
    expect(await world.blobs()).toEqual([{ live: false, assets: 0 }]);
  });

  it('its lease is renewed is recorded', async () => {
    const run = await running();
    const draft = await world.stored('made');
    const renewed = (tx: Statements): Promise<unknown> => world.jobs.world.beat(run, 1, tx);
    expect(await behind(renewed, () => world.recorder.record(run, draft))).toBe(true);
  });

  it('its lease runs out is recorded before the attempt is taken back, and what comes after replaces it', async () => {
    const run = await running();
    await world.jobs.world.passLease(run.jobId);
    const row = rowOf(await world.stored('first'));
    const taken = await behind(
      (tx) => world.store.record(tx, run, row),
      () => takeBackAttempt(test.database, run.jobId),
    );
    expect(taken).not.toBeNull();
    expect(await world.outputs(run.jobId)).toMatchObject([{ attempt: 1, text: 'first' }]);
    const next = await started();
    expect(await world.record(next, 'second')).toBe(true);
    expect(await world.outputs(run.jobId)).toMatchObject([{ attempt: 2, text: 'second' }]);
  });

  it.each([
    ['of the same bytes', 'made', 1],
    ['of other bytes', 'made otherwise', 2],
  ])('an earlier try %s, whose answer was lost, is recorded replaces that', async (_, other, assets) => {
    const run = await running();
    const draft = await world.stored('made');
    const row = rowOf(await world.stored(other));
    expect(
      await behind(
        (tx) => world.store.record(tx, run, row),
        () => world.recorder.record(run, draft),
      ),
    ).toBe(true);
    expect(await world.outputs(run.jobId)).toMatchObject([{ attempt: 1, text: 'made' }]);
    expect(await world.keptAssets(run.jobId)).toHaveLength(assets);
  });

  it('an earlier try is recorded waits for that before it holds anything that another might wait for', async () => {
    const run = await running();
    const row = rowOf(await world.stored('made'));
    const draft = await world.stored('made otherwise');
    const blobIsFree = (): Promise<unknown> =>
      looker.query('SELECT FROM blobs WHERE account_id = $1 AND hash = $2 FOR NO KEY UPDATE NOWAIT', [
        world.jobs.accountId,
        draft.blob.hash,
      ]);
    const recorded = await behind(
      (tx) => world.store.record(tx, run, row),
      () => world.recorder.record(run, draft),
      blobIsFree,
    );
    expect(recorded).toBe(true);
  });

  it('two tries of the next attempt replace what a lost one recorded adds one asset', async () => {
    const lost = await running();
    await world.record(lost, 'first');
    const next = await after(lost);
    const row = rowOf(await world.stored('second'));
    const draft = await world.stored('second');
    await behind(
      (tx) => world.store.record(tx, next, row),
      () => world.recorder.record(next, draft),
    );
    expect(await world.outputs(next.jobId)).toMatchObject([{ attempt: 2, text: 'second' }]);
    expect(await world.keptAssets(next.jobId)).toHaveLength(2);
  });

  it('its bytes are condemned must be stored again', async () => {
    const run = await running();
    const draft = await world.stored('made');
    await expect(behind(condemnAll, () => world.recorder.record(run, draft))).rejects.toMatchObject(MISSING);
    expect(await world.outputs(run.jobId)).toEqual([]);
    expect(await world.record(run, 'made')).toBe(true);
    expect(await world.outputs(run.jobId)).toMatchObject([{ text: 'made' }]);
  });

  it('orphans are swept keeps its bytes', async () => {
    const run = await running();
    const row = rowOf(await world.stored('made'));
    await test.database.transaction(async (tx) => {
      await world.store.record(tx, run, row);
      await besideTransaction(() => world.runLoop('sweep-blobs'));
    });
    expect(await world.outputs(run.jobId)).toMatchObject([{ text: 'made' }]);
  });

  it('the last other asset of its bytes is deleted keeps them, in either order', async () => {
    const { accountId } = world.jobs;
    const run = await running();
    const assetId = await world.upload('made');
    const row = rowOf(await world.stored('made'));
    await behind(
      (tx) => world.store.record(tx, run, row),
      () => world.assets.assets.remove(wholeAccount(accountId), assetId),
    );
    expect(await world.blobs()).toEqual([{ live: true, assets: 1 }]);

    const draft = await world.stored('made', 1);
    const orphaned = (tx: Statements): Promise<unknown> =>
      tx.execute(Prisma.sql`UPDATE blobs SET orphaned_at = now() WHERE account_id = ${accountId}::uuid`);
    await behind(orphaned, () => world.recorder.record(run, draft));
    expect(await world.blobs()).toEqual([{ live: true, assets: 2 }]);
  });

  it('the asset that it replaces is deleted does not wait for that, so that neither waits forever', async () => {
    const lost = await running();
    await world.record(lost, 'first');
    const next = await after(lost);
    const [replaced] = await world.outputs(next.jobId);
    await test.database.transaction(async (tx) => {
      await tx.query(Prisma.sql`SELECT FROM assets WHERE id = ${replaced?.assetId}::uuid FOR UPDATE`);
      expect(await besideTransaction(() => world.record(next, 'second'))).toBe(true);
    });
  });
});

describe('the last output of a job', () => {
  const jobOf = (id: string): Promise<{ status: string; delivery: string }> =>
    test.database.models.job.findUniqueOrThrow({ where: { id } });

  it('is recorded with its end, which settles the job', async () => {
    await world.jobs.grant(100n);
    await world.jobs.submit(10n, 3n);
    const run = await started();
    const draft = await world.stored('made');
    expect(await world.blobs()).toEqual([{ live: false, assets: 0 }]);
    expect(await world.finishWith(run, draft)).toBe(true);
    expect(await world.outputs(run.jobId)).toMatchObject([{ nodeIndex: 0, attempt: 1, text: 'made' }]);
    expect(await jobOf(run.jobId)).toMatchObject({ status: 'succeeded', delivery: 'done', chargedMicros: 3n });
    expect(await world.jobs.balance()).toEqual({ availableMicros: 97n, heldMicros: 0n });
    const [assetId] = await world.keptAssets(run.jobId);
    const asset = await world.assets.assets.get(wholeAccount(world.jobs.accountId), assetId ?? '');
    const { expiresAt } = await test.database.models.job.findUniqueOrThrow({ where: { id: run.jobId } });
    expect(asset).toMatchObject({ jobId: run.jobId, filePath: '0.txt', expiresAt });
    expect(await world.blobs()).toEqual([{ live: true, assets: 1 }]);
  });

  it('joins those of its attempt, and those of a lost attempt go', async () => {
    const lost = await running();
    await world.record(lost, 'of the lost one', 2);
    const next = await after(lost);
    await world.record(next, 'first');
    expect(await world.finish(next, 'second', 1)).toBe('ended');
    expect(await world.outputs(next.jobId)).toMatchObject([
      { nodeIndex: 0, attempt: 2, text: 'first' },
      { nodeIndex: 1, attempt: 2, text: 'second' },
    ]);
  });

  it('is kept where the job was to be canceled meanwhile, and ends so', async () => {
    const run = await running();
    await requestCancel(test.database, world.jobs.scope, run.jobId);
    expect(await world.finish(run, 'made')).toBe('ended');
    expect(await jobOf(run.jobId)).toMatchObject({ status: 'canceled', delivery: 'done' });
    expect(await world.outputs(run.jobId)).toMatchObject([{ text: 'made' }]);
  });

  it('is not recorded for who has lost the lease, nor is an end', async () => {
    const lost = await running();
    await after(lost);
    for (const fence of [lost, { ...lost, attempt: 2 }, { ...lost, leaseToken: randomUUID() }]) {
      expect(await world.finish(fence, 'made')).toBe('lease_lost');
    }
    expect(await jobOf(lost.jobId)).toMatchObject({ status: 'running', delivery: 'leased' });
    expect(await world.outputs(lost.jobId)).toEqual([]);
    expect(await world.blobs()).toEqual([{ live: false, assets: 0 }]);
  });

  it('is not recorded where the attempt is taken back while it waits', async () => {
    const run = await running();
    await world.jobs.world.passLease(run.jobId);
    const draft = await world.stored('made');
    expect(
      await behind(
        (tx) => takeBackAttempt(tx, run.jobId),
        () => world.finishWith(run, draft),
      ),
    ).toBe(true);
    expect(await jobOf(run.jobId)).toMatchObject({ status: 'running', delivery: 'waiting' });
    expect(await world.outputs(run.jobId)).toEqual([]);
    expect(await world.blobs()).toEqual([{ live: false, assets: 0 }]);
  });

  it.each<[string, (run: ClaimedAttempt) => Promise<OutputDraft>]>([
    [
      'its place is taken',
      async (run) => {
        await world.record(run, 'before');
        return world.stored('made');
      },
    ],
    [
      'its place is taken by a lost attempt',
      async (run) => {
        await test.database.execute(Prisma.sql`
          UPDATE jobs SET attempt = attempt + 1 WHERE id = ${run.jobId}::uuid`);
        await world.record({ ...run, attempt: run.attempt + 1 }, 'before');
        await test.database.execute(Prisma.sql`
          UPDATE job_outputs SET attempt = attempt - 1 WHERE job_id = ${run.jobId}::uuid`);
        run.attempt += 1;
        return world.stored('made');
      },
    ],
    [
      'its name is taken',
      async (run) => {
        await world.record(run, 'before');
        return { ...(await world.stored('made', 1)), name: '0.txt' };
      },
    ],
    [
      'its bytes were swept',
      async () => {
        const draft = await world.stored('made');
        await condemnAll(test.database);
        return draft;
      },
    ],
    [
      'its bytes are of another account',
      async () => {
        const draft = await world.stored('made');
        const accountId = await makeAccount(test.database);
        const { hash } = draft.blob;
        const data = { accountId, hash, sizeBytes: 4n };
        const { createdAt: bornAt } = await test.database.models.blob.create({ data });
        return { ...draft, blob: { ...draft.blob, accountId, bornAt } };
      },
    ],
    [
      'its name is too long',
      async () => ({ ...(await world.stored('made')), name: randomBytes(2_650).toString('hex') }),
    ],
  ])('has to be recorded by itself where %s: nothing changes', async (_, make) => {
    const run = await running();
    const draft = await make(run);
    const [outputs, blobs, kept] = [
      await world.outputs(run.jobId),
      await world.blobs(),
      await world.keptAssets(run.jobId),
    ];
    expect(await world.finishWith(run, draft)).toBe(false);
    expect(await jobOf(run.jobId)).toMatchObject({ status: 'running', delivery: 'leased' });
    expect(await world.outputs(run.jobId)).toEqual(outputs);
    expect(await world.blobs()).toEqual(blobs);
    expect(await world.keptAssets(run.jobId)).toEqual(kept);
  });

  it('has to be recorded by itself where its job has as many outputs as it may have', async () => {
    const run = await running();
    const recorder = world.recorderFor({ maxOutputsPerJob: 1 });
    await world.record(run, 'first');
    expect(await world.finishWith(run, await world.stored('made', 1), recorder)).toBe(false);
    expect(await jobOf(run.jobId)).toMatchObject({ status: 'running', delivery: 'leased' });
    expect(await world.outputs(run.jobId)).toMatchObject([{ text: 'first' }]);
  });

  it('has to be recorded by itself where its bytes are condemned while it waits', async () => {
    const run = await running();
    const draft = await world.stored('made');
    expect(await behind(condemnAll, () => world.finishWith(run, draft))).toBe(false);
    expect(await jobOf(run.jobId)).toMatchObject({ status: 'running', delivery: 'leased' });
  });
});
