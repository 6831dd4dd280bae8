import { randomBytes } from 'node:crypto';
import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { besideTransaction, type Statements } from '@millrace/database';
import { createTestDatabase, eventually, type TestDatabase } from '@millrace/testing';
import { JobWorld, cloudScope, endingOf } from '../fixtures/job-world';
import { OutputStore } from '../outputs/output.store';
import type { ClaimedAttempt, Fence } from '../state/job';
import { requestCancel } from './cancel.store';
import { endJob } from './end.store';
import { giveUpAttempt, handBackAttempt, takeBackAttempt } from './release.store';
import {
  BILLED,
  RELEASES,
  REPORTED_ENDINGS,
  SETTLEMENT,
  resubmitAdvice,
  type Billed,
  type Release,
} from './settlement';

/** Engine time that a worker reports with its last heartbeat, and with the end. */
const [LAST_MS, END_MS] = [7_000, 9_000];
const HOLD_MICROS = 60_000n;
/** Of engine time at a thousand micro-credits a second. */
const charge: Record<Billed, bigint> = { billable: 9_000n, waived: 0n, as_last_reported: 7_000n };

let test: TestDatabase;
let world: JobWorld;
beforeAll(async () => {
  test = await createTestDatabase();
  world = new JobWorld(test, { priceMicrosPerSecond: 1_000n, holdMicros: HOLD_MICROS });
});
afterAll(() => test.drop());
afterEach(() => jest.restoreAllMocks());

async function running(): Promise<ClaimedAttempt> {
  const claimed = await world.start(await world.submit());
  await world.claimedSecondsAgo(claimed.jobId, 60);
  await world.beat(claimed, LAST_MS);
  return claimed;
}

/** The attempt records an output. @returns the id of its asset. */
async function made(claimed: ClaimedAttempt, statements: Statements = test.database): Promise<string> {
  const { blob } = statements.models;
  const { accountId } = claimed;
  const hash = `blake3:${randomBytes(32).toString('hex')}`;
  const { createdAt: bornAt } = await blob.create({ data: { accountId, hash, sizeBytes: 1n } });
  const asset = { id: newId(), blob: { accountId, hash, bornAt }, contentType: 'text/plain', name: 'a.txt' };
  const outputs = new OutputStore({ maxOutputsPerJob: 10 });
  await outputs.record(statements, claimed, { nodeId: '1', nodeIndex: 0, ordinal: 0, type: 'text', asset });
  return asset.id;
}

/** Whether the job shows its output, and the asset can be had: both or neither. */
async function isDelivered({ jobId }: ClaimedAttempt, assetId: string | undefined): Promise<boolean> {
  const { asset, job, jobOutput } = test.database.models;
  const isShown = (await jobOutput.count({ where: { jobId } })) > 0;
  const { expiresAt } = await asset.findUniqueOrThrow({ where: { id: assetId ?? '' } });
  const { expiresAt: jobExpiresAt } = await job.findUniqueOrThrow({ where: { id: jobId } });
  expect(expiresAt?.getTime() === jobExpiresAt.getTime()).toBe(isShown);
  return isShown;
}

describe('what the table says is billed', () => {
  const reported = REPORTED_ENDINGS.flatMap((ending) => BILLED.map((billed) => [ending, billed] as const));
  it.each(reported)('of an attempt that ends as %s: %s', async (ending, billed) => {
    jest.replaceProperty(SETTLEMENT, ending, billed);
    const claimed = await running();
    if (ending === 'canceled_while_running') {
      await requestCancel(test.database, cloudScope(claimed.accountId), claimed.jobId);
    }
    const moved = await world.end(claimed, endingOf(ending, { engineMs: END_MS }));
    expect(moved?.chargedMicros).toBe(charge[billed]);
  });

  it.each(['waived', 'as_last_reported'] as const)('of a job whose deadline passes: %s', async (billed) => {
    jest.replaceProperty(SETTLEMENT, 'deadline_passed', billed);
    const { jobId } = await running();
    await world.passDeadline(jobId);
    const moved = await endJob(test.database, { kind: 'overdue', jobId }, endingOf('deadline_passed'));
    expect(moved?.chargedMicros).toBe(charge[billed]);
  });

  it('of a job whose deadline passes after its worker was lost: nothing', async () => {
    const { jobId } = await running();
    await world.passLease(jobId);
    await world.passDeadline(jobId);
    const moved = await endJob(test.database, { kind: 'overdue', jobId }, endingOf('deadline_passed'));
    expect(moved?.chargedMicros).toBe(0n);
  });

  const release: Record<Release, (fence: Fence) => Promise<unknown>> = {
    handed_back: (fence) => handBackAttempt(test.database, fence),
    given_up: (fence) => giveUpAttempt(test.database, fence),
    taken_back: async ({ jobId }) => {
      await world.passLease(jobId);
      return takeBackAttempt(test.database, jobId);
    },
  };
  const released = RELEASES.flatMap((kind) =>
    (['waived', 'as_last_reported'] as const).map((one) => [kind, one] as const),
  );
  it.each(released)('of an attempt that was %s: %s, beside what ends the job', async (kind, billed) => {
    jest.replaceProperty(SETTLEMENT, kind, billed);
    const first = await running();
    expect(await release[kind](first)).not.toBeNull();
    const second = await world.start(first);
    await world.claimedSecondsAgo(second.jobId, 60);
    const moved = await world.end(second, endingOf('succeeded', { engineMs: END_MS }));
    // The lease of an attempt that is taken back has run out.
    expect(moved?.chargedMicros).toBe(charge.billable + (kind === 'taken_back' ? 0n : charge[billed]));
  });
});

describe('what the table says is delivered', () => {
  const cases = REPORTED_ENDINGS.flatMap((ending) => BILLED.map((billed) => [ending, billed] as const));
  it.each(cases)('of an attempt that ends as %s: %s', async (ending, billed) => {
    jest.replaceProperty(SETTLEMENT, ending, billed);
    const claimed = await running();
    const assetId = await made(claimed);
    if (ending === 'canceled_while_running') {
      await requestCancel(test.database, cloudScope(claimed.accountId), claimed.jobId);
    }
    await world.end(claimed, endingOf(ending, { engineMs: END_MS }));
    expect(await isDelivered(claimed, assetId)).toBe(billed !== 'waived');
  });

  it('of a job whose deadline passes: what its worker made, unless that was lost first', async () => {
    const [held, lost] = [await running(), await running()];
    const assetIds = [await made(held), await made(lost)];
    await world.passLease(lost.jobId);
    for (const { jobId } of [held, lost]) {
      await world.passDeadline(jobId);
      await endJob(test.database, { kind: 'overdue', jobId }, endingOf('deadline_passed'));
    }
    expect(await isDelivered(held, assetIds[0])).toBe(true);
    expect(await isDelivered(lost, assetIds[1])).toBe(false);
  });

  it('of a job without a price: all of it, since nobody is charged', async () => {
    const claimed = await world.start(await world.submit({ priceMicrosPerSecond: 0n, holdMicros: 0n }));
    const assetId = await made(claimed);
    await world.end(claimed, endingOf('output_not_stored'));
    expect(await isDelivered(claimed, assetId)).toBe(true);
  });

  it('of a job that is not charged: nothing, also of what was recorded while its end waited', async () => {
    const claimed = await running();
    let ending: Promise<unknown> = Promise.resolve();
    let assetId = '';
    await test.database.transaction(async (tx) => {
      assetId = await made(claimed, tx);
      ending = besideTransaction(() => world.end(claimed, endingOf('output_not_stored')));
      await eventually('the end to wait', async () => {
        const isWaiting = Prisma.sql`
          SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
        const rows = await besideTransaction(() => test.database.query(isWaiting));
        return rows.length > 0;
      });
    });
    await ending;
    expect(await isDelivered(claimed, assetId)).toBe(false);
  });
});

describe('advice to submit a job again', () => {
  it('says that nothing was charged exactly where that is so', () => {
    expect(resubmitAdvice('attempts_used_up')).toBe('Nothing was charged; submit the job again.');
    jest.replaceProperty(SETTLEMENT, 'attempts_used_up', 'as_last_reported');
    expect(resubmitAdvice('attempts_used_up')).toBe('Submit the job again.');
  });
});
