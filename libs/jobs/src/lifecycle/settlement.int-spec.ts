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

/** Once more, because every other test of the table replaces what it says: what an ending costs is changed in two places. */
const BILLED_AS: Record<keyof typeof SETTLEMENT, Billed> = {
  succeeded: 'billable',
  node_failed: 'billable',
  engine_failed: 'billable',
  input_rejected: 'waived',
  output_not_stored: 'waived',
  output_refused: 'billable',
  engine_lost: 'billable',
  input_not_staged: 'waived',
  credentials_lost: 'waived',
  credits_exhausted: 'billable',
  overtime: 'billable',
  canceled_while_running: 'billable',
  canceled_while_queued: 'waived',
  canceled_between_attempts: 'as_last_reported',
  canceled_with_worker_lost: 'waived',
  attempts_used_up: 'waived',
  worker_failed: 'waived',
  overtime_passed: 'as_last_reported',
  deadline_passed: 'as_last_reported',
  handed_back: 'waived',
  given_up: 'waived',
  taken_back: 'waived',
};

describe('the table', () => {
  it('bills what the graph of a customer used, and waives what is provably our fault', () =>
    expect(SETTLEMENT).toEqual(BILLED_AS));
});

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
    given_up: (fence) => giveUpAttempt(test.database, fence, 0),
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

describe('an attempt that its engine lost', () => {
  const LOST_MS = 30_000;
  const LOST = 30_000n;

  /** A job whose engine lost its first attempt, which had delivered an output. */
  async function lost(): Promise<{ claimed: ClaimedAttempt; assetId: string }> {
    const claimed = await running();
    const assetId = await made(claimed);
    expect(await giveUpAttempt(test.database, claimed, LOST_MS)).not.toBeNull();
    return { claimed, assetId };
  }

  async function next(claimed: ClaimedAttempt): Promise<ClaimedAttempt> {
    const second = await world.start(claimed);
    await world.claimedSecondsAgo(second.jobId, 60);
    return second;
  }

  it('is billed, and its outputs stay, when the job is canceled before the next', async () => {
    const { claimed, assetId } = await lost();
    const { jobId } = claimed;
    await requestCancel(test.database, cloudScope(claimed.accountId), jobId);
    const ending = endingOf('canceled_between_attempts');
    const moved = await endJob(test.database, { kind: 'canceling_unleased', jobId }, ending);
    expect(moved?.chargedMicros).toBe(LOST);
    expect(await isDelivered(claimed, assetId)).toBe(true);
  });

  it('is billed when the deadline of the job passes before the next', async () => {
    const { claimed, assetId } = await lost();
    const { jobId } = claimed;
    await world.passDeadline(jobId);
    const moved = await endJob(test.database, { kind: 'overdue', jobId }, endingOf('deadline_passed'));
    expect(moved?.chargedMicros).toBe(LOST);
    expect(await isDelivered(claimed, assetId)).toBe(true);
  });

  it.each(['canceled_while_running', 'node_failed', 'engine_lost'] as const)(
    'is billed instead of a shorter next one that ends as %s',
    async (ending) => {
      const { claimed } = await lost();
      const second = await next(claimed);
      if (ending === 'canceled_while_running') {
        await requestCancel(test.database, cloudScope(claimed.accountId), claimed.jobId);
      }
      expect((await world.end(second, endingOf(ending, { engineMs: END_MS })))?.chargedMicros).toBe(LOST);
    },
  );

  it('costs nothing when the next one succeeds, or fails through a fault of ours', async () => {
    const ends = [];
    for (const ending of ['succeeded', 'output_not_stored'] as const) {
      const { claimed } = await lost();
      ends.push((await world.end(await next(claimed), endingOf(ending, { engineMs: END_MS })))?.chargedMicros);
    }
    expect(ends).toEqual([charge.billable, 0n]);
  });

  it('is billed for the time since it was claimed, no matter what its worker says', async () => {
    const claimed = await running();
    await giveUpAttempt(test.database, claimed, 1_000_000_000);
    const { lostEngineMs } = await test.database.models.job.findUniqueOrThrow({ where: { id: claimed.jobId } });
    expect(Number(lostEngineMs)).toBeGreaterThanOrEqual(60_000);
    expect(Number(lostEngineMs)).toBeLessThan(600_000);
  });

  it('costs nothing when its worker lost it', async () => {
    const claimed = await running();
    const { jobId } = claimed;
    const assetId = await made(claimed);
    await giveUpAttempt(test.database, claimed, 0);
    await requestCancel(test.database, cloudScope(claimed.accountId), jobId);
    const ending = endingOf('canceled_between_attempts');
    const moved = await endJob(test.database, { kind: 'canceling_unleased', jobId }, ending);
    expect(moved?.chargedMicros).toBe(0n);
    expect(await isDelivered(claimed, assetId)).toBe(false);
  });
});

it('a heartbeat that reports more engine time than has passed since the claim extends no hold and costs nothing more', async () => {
  const claimed = await world.start(await world.submit());
  const { jobId } = claimed;
  expect(await world.beat(claimed, 1_000_000_000)).toMatchObject({ exhausted: false });
  const { heldMicros } = await test.database.models.job.findUniqueOrThrow({ where: { id: jobId } });
  expect(heldMicros).toBe(HOLD_MICROS);
  await world.passDeadline(jobId);
  const moved = await endJob(test.database, { kind: 'overdue', jobId }, endingOf('deadline_passed'));
  expect(moved?.chargedMicros).toBeLessThan(HOLD_MICROS);
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

  it('of a job that is not charged: nothing, also of what a later attempt replaced', async () => {
    const lost = await running();
    const replaced = await made(lost);
    await giveUpAttempt(test.database, lost, 0);
    const claimed = await world.start(lost);
    const assetId = await made(claimed);
    await world.end(claimed, endingOf('output_not_stored'));
    expect(await isDelivered(claimed, assetId)).toBe(false);
    expect(await isDelivered(claimed, replaced)).toBe(false);
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
  it('says of its attempt that it was not charged exactly where that is so', () => {
    expect(resubmitAdvice('attempts_used_up')).toBe('This attempt was not charged. Submit the job again.');
    jest.replaceProperty(SETTLEMENT, 'attempts_used_up', 'as_last_reported');
    expect(resubmitAdvice('attempts_used_up')).toBe('Submit the job again.');
  });
});
