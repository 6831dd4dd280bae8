import pg from 'pg';
import { ConstraintError, RefusedError, type Statements } from '@millrace/database';
import { noDispatcher } from '../fixtures/no-dispatcher';
import type { JobDraft } from './submission';
import {
  GROUP_BYTES,
  GROUP_GRAPH_BYTES,
  GROUP_JOBS,
  GROUP_WAIT_MS,
  LOCK_WAIT_MS,
  SubmissionGroups,
} from './submission-groups';
import type { RecordedAlone, RecordedJob } from './submission.store';

/** A statement under way, which the test ends. */
interface Statement {
  /** Numbers of the drafts, in their order. */
  drafts: number[];
  end: () => void;
  fail: (error: Error) => void;
}

let statements: Statement[];
let groups: SubmissionGroups;
let outcomes: Record<number, string>;
/** Pools that were to be dispatched once a group was recorded. */
let dispatched: string[];
beforeEach(() => {
  statements = [];
  outcomes = {};
  const run = async (drafts: readonly JobDraft[]): Promise<RecordedJob[]> =>
    new Promise((resolve, reject) => {
      const end = (): void => resolve(drafts.map((draft) => ({ id: String(draft.nodeCount) }) as RecordedJob));
      statements.push({ drafts: drafts.map((draft) => draft.nodeCount), end, fail: reject });
    });
  const alone = async (_: Statements, draft: JobDraft): Promise<RecordedAlone> => ({
    ...((await run([draft]))[0] as RecordedJob),
    turns: [],
  });
  dispatched = [];
  const dispatcher: Pick<typeof noDispatcher, 'dispatchWith' | 'requestDispatch'> = {
    requestDispatch: (poolId) => void dispatched.push(poolId),
    dispatchWith: noDispatcher.dispatchWith,
  };
  groups = new SubmissionGroups(
    {} as Statements,
    { record: alone },
    { record: (_, drafts) => run(drafts) },
    dispatcher,
  );
});

/** Nothing stays under way. */
afterEach(async () => {
  jest.useRealTimers();
  while (statements.length > 0) await endFirst();
});

/** Submit a draft by its number. */
function submit(number: number, draft: Partial<JobDraft> = {}): void {
  const whole = {
    accountId: `account ${number}`,
    poolId: 'pool',
    workflow: '{}',
    idempotencyKey: null,
    nodeCount: number,
    ...draft,
  };
  void groups.record(whole as JobDraft).then(
    ({ id }) => (outcomes[number] = id),
    (error: Error) => (outcomes[number] = error.message),
  );
}

/** Everything that can happen without another event has happened. */
const settled = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Submit one that keeps all others waiting. */
function occupy(): void {
  submit(-1);
}

/** End the first statement that is under way. */
async function endFirst(): Promise<void> {
  statements.shift()?.end();
  await settled();
}

const underWay = (): number[][] => statements.map(({ drafts }) => drafts);
const numbers = (from: number, count: number): number[] => Array.from({ length: count }, (_, nth) => from + nth);

describe('submissions', () => {
  it('that find nothing under way go at once, alone', () => {
    submit(1);
    expect(underWay()).toEqual([[1]]);
  });

  it('that arrive while others are under way go together into the next statement, in their order', async () => {
    occupy();
    for (const number of [1, 2, 3]) submit(number);
    expect(underWay()).toEqual([[-1]]);
    await endFirst();
    expect(underWay()).toEqual([[1, 2, 3]]);
    await endFirst();
    expect(outcomes).toEqual({ [-1]: '-1', 1: '1', 2: '2', 3: '3' });
    // The pool of the group, once it was recorded; of one that went alone the dispatcher itself knows.
    expect(dispatched).toEqual(['pool']);
  });

  it('go in groups of so many jobs and bytes at most', async () => {
    occupy();
    const all = numbers(0, GROUP_JOBS + 1);
    for (const number of all) submit(number);
    await endFirst();
    expect(underWay()[0]).toEqual(all.slice(0, -1));
    const large = 'x'.repeat(GROUP_GRAPH_BYTES);
    const many = numbers(100, GROUP_BYTES / GROUP_GRAPH_BYTES + 1);
    for (const number of many) submit(number, { workflow: large });
    await endFirst();
    expect(underWay()[0]).toEqual([GROUP_JOBS, ...many.slice(0, -2)]);
  });

  it('with a large graph wait for nobody, and nobody for them', () => {
    occupy();
    submit(1, { workflow: 'x'.repeat(GROUP_GRAPH_BYTES + 1) });
    expect(underWay()).toEqual([[-1], [1]]);
  });

  it('go beside a statement that takes long, but never two of one account', async () => {
    jest.useFakeTimers();
    submit(1, { accountId: 'one' });
    submit(2, { accountId: 'one' });
    submit(3);
    jest.advanceTimersByTime(GROUP_WAIT_MS - 1);
    expect(underWay()).toEqual([[1]]);
    jest.advanceTimersByTime(1);
    expect(underWay()).toEqual([[1], [3]]);
    jest.useRealTimers();
    submit(4);
    await endFirst();
    expect(underWay()).toEqual([[3]]);
    await endFirst();
    expect(underWay()).toEqual([[2, 4]]);
  });

  it('never share a group with one of the same key; the account keeps its order, others pass', async () => {
    occupy();
    const one = { accountId: 'one', idempotencyKey: 'key' };
    submit(1, one);
    submit(2, one);
    submit(3, { accountId: 'one' });
    submit(4, { accountId: 'other', idempotencyKey: 'key' });
    await endFirst();
    expect(underWay()).toEqual([[1, 4]]);
    await endFirst();
    expect(underWay()).toEqual([[2, 3]]);
  });
});

describe('a group that cannot be recorded', () => {
  async function failGroup(error: Error): Promise<void> {
    occupy();
    for (const number of [1, 2, 3]) submit(number, { accountId: number < 3 ? 'one' : 'other' });
    await endFirst();
    statements.shift()?.fail(error);
    await settled();
  }

  it.each([
    ['a refusal', new RefusedError('queue_full')],
    ['a constraint', new ConstraintError('foreign_key', 'of assets')],
    ['a locked row', sqlError('55P03')],
    ['a deadlock', sqlError('40P01')],
    ['a value', sqlError('22P05')],
  ])('because of %s leaves each to be recorded alone, in the order of its account', async (_what, error) => {
    await failGroup(error);
    expect(underWay()).toEqual([[1], [3]]);
    await endFirst();
    expect(underWay()).toEqual([[3], [2]]);
    await endFirst();
    await endFirst();
    expect(outcomes).toMatchObject({ 1: '1', 2: '2', 3: '3' });
  });

  it.each([
    ['a lost connection', new Error('Connection terminated unexpectedly')],
    ['a statement that took too long', sqlError('57014')],
    ['a shutdown', sqlError('57P01')],
    ['a standby', sqlError('25006')],
  ])('because of %s is not recorded again: it may have been committed', async (_what, error) => {
    await failGroup(error);
    expect(underWay()).toEqual([]);
    expect(outcomes).toMatchObject({ 1: error.message, 2: error.message, 3: error.message });
  });
});

it('a submission that PostgreSQL undid in favour of others is recorded again', async () => {
  submit(1);
  statements.shift()?.fail(sqlError('40P01'));
  await settled();
  expect(underWay()).toEqual([[1]]);
  await endFirst();
  expect(outcomes).toEqual({ 1: '1' });
});

describe('an account', () => {
  it.each([
    ['was refused', new RefusedError('queue_full')],
    ['sent what PostgreSQL cannot store', sqlError('22P05')],
  ])('that %s goes alone for a while, so that it fails no group', async (_what, error) => {
    submit(1, { accountId: 'one' });
    statements.shift()?.fail(error);
    await settled();
    occupy();
    submit(2, { accountId: 'one' });
    submit(3, { accountId: 'one' });
    expect(underWay()).toEqual([[-1], [2], [3]]);
  });

  it('that waits for a locked row holds up neither others nor its own next', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'performance'] });
    submit(1, { accountId: 'one' });
    submit(2, { accountId: 'two' });
    submit(3, { accountId: 'one' });
    submit(4);
    jest.advanceTimersByTime(LOCK_WAIT_MS);
    await settled();
    expect(underWay()).toEqual([[1], [2, 4], [3]]);
    submit(5, { accountId: 'one' });
    expect(underWay()).toEqual([[1], [2, 4], [3], [5]]);
  });
});

/** An error of PostgreSQL as the driver reports it. */
function sqlError(code: string): Error {
  return Object.assign(new pg.DatabaseError(`an error ${code}`, 0, 'error'), { code });
}
