import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { createTestDatabase, makeAccount, type TestDatabase } from '@millrace/testing';
import type { Erasure, ErasureLease } from './erasure';
import { CarryOutErasuresLoop } from './carry-out-erasures.loop';
import { ErasureRunner, type StepResult } from './erasure-runner';
import type { ErasureSteps, Outcome } from './erasure-steps';
import { nextStep } from './erasure-steps';
import { ErasureStore } from './erasure.store';
import { Erasures } from './erasures.service';

let test: TestDatabase;
let accountId: string;
const store = new ErasureStore();
beforeAll(async () => {
  test = await createTestDatabase();
});
beforeEach(async () => {
  await test.database.execute(Prisma.sql`DELETE FROM erasures`);
  accountId = await makeAccount(test.database);
});
afterAll(() => test.drop());

type Step = (step: string, lease: ErasureLease) => Promise<Outcome | ((tx: Statements) => Promise<Outcome>)>;
const runnerOf = (run: Step): ErasureRunner =>
  new ErasureRunner(test.database, store, { run } as unknown as ErasureSteps, 0);
const ask = async (value = 'ada', of = accountId): Promise<Erasure> => {
  const subject = { kind: 'label', label: 'user', value } as const;
  const id = newId();
  const made = await store.insert(test.database, {
    id,
    accountId: of,
    subject,
    pseudonym: 'erased-1',
    requestedBy: 'test',
  });
  return made ?? ((await store.findOpen(test.database, of, subject)) as Erasure);
};
const read = async (id: string): Promise<Erasure> => (await store.find(test.database, accountId, id)) as Erasure;
const rename = (tx: Statements, name: string): Promise<number> =>
  tx.execute(Prisma.sql`UPDATE accounts SET name = ${name} WHERE id = ${accountId}::uuid`);
const nameOf = async (): Promise<string> =>
  (await test.database.models.account.findUniqueOrThrow({ where: { id: accountId } })).name;

const STEPS: string[] = [];
for (let step = nextStep('label', null); step !== null; step = nextStep('label', step)) STEPS.push(step);

it('does every step in its order, each process going on where the one before stopped, and forgets the value at last', async () => {
  const { id } = await ask();
  const done: string[] = [];
  const runStep: Step = (step) => {
    done.push(step);
    return Promise.resolve({ next: 'over', counts: { jobs: 2 } });
  };
  // A process of its own for each step: nothing is kept in memory.
  while ((await runnerOf(runStep).runOnce()) === 'went_on');
  expect(done).toEqual(STEPS);
  expect(await read(id)).toMatchObject({
    state: 'done',
    label: 'user',
    value: null,
    counts: { jobs: 2 * STEPS.length },
  });
});

it('a step that is interrupted has done nothing, and is done again from the same place', async () => {
  const { id } = await ask();
  await runnerOf(() => Promise.resolve({ next: 'again', place: 'half', counts: { jobs: 1 } })).runOnce();
  const broken = runnerOf(() =>
    Promise.resolve(async (tx) => {
      await rename(tx, 'written by a step that failed');
      throw new Error('the process ended here');
    }),
  );
  await expect(broken.runOnce()).rejects.toThrow('ended here');
  expect(await nameOf()).not.toContain('failed');
  await test.database.execute(Prisma.sql`UPDATE erasures SET due_at = now() WHERE id = ${id}::uuid`);
  let seen: ErasureLease | undefined;
  await runnerOf((_, lease) => {
    seen = lease;
    return Promise.resolve({ next: 'over' });
  }).runOnce();
  expect(seen).toMatchObject({ step: STEPS[0], place: 'half', counts: { jobs: 1 } });
});

it('a process that lost its lease in the middle of a step writes nothing', async () => {
  const { id } = await ask();
  const late = runnerOf(async () => {
    // It froze for longer than its lease, and another process took the step meanwhile.
    await test.database.execute(Prisma.sql`
      UPDATE erasures SET lease_expires_at = now() - interval '1 s' WHERE id = ${id}::uuid`);
    await runnerOf(() => Promise.resolve({ next: 'over' })).runOnce();
    return async (tx) => {
      await rename(tx, 'written by who lost the lease');
      return { next: 'over', counts: { jobs: 7 } };
    };
  });
  expect(await late.runOnce()).toBe('waits');
  expect(await nameOf()).not.toContain('lost');
  expect(await read(id)).toMatchObject({ state: 'running', step: STEPS[1], counts: {} });
});

it('two processes never have the same step, and one that died gives it back when its lease ends', async () => {
  const { id } = await ask();
  const terms = { leaseSeconds: 60, settleSeconds: 0 };
  expect(await store.claim(test.database, terms)).toMatchObject({ id });
  expect(await store.claim(test.database, terms)).toBeNull();
  await test.database.execute(Prisma.sql`UPDATE erasures SET lease_expires_at = now() - interval '1 s'`);
  expect(await store.claim(test.database, terms)).toMatchObject({ id });
});

it('asked for again while it is not done, it is the same', async () => {
  const { id } = await ask();
  expect((await ask()).id).toBe(id);
  expect((await ask('bob')).id).not.toBe(id);
  await test.database.execute(Prisma.sql`
    UPDATE erasures SET state = 'done', done_at = now(), value = NULL WHERE id = ${id}::uuid`);
  expect((await ask()).id).not.toBe(id);
});

it('does a step of each account in turn, however many erasures one of them asked for', async () => {
  for (let at = 0; at < 20; at += 1) await ask(`user ${at}`);
  const other = await makeAccount(test.database);
  await ask('bob', other);
  const done: string[] = [];
  const runner = runnerOf((_, lease) => {
    done.push(lease.accountId);
    return Promise.resolve({ next: 'over' });
  });
  for (let step = 0; step < 6; step += 1) await runner.runOnce();
  expect(done.filter((id) => id === other)).toHaveLength(3);
});

it('is asked for a thousand times by an account, and no more until some are done; the account itself always', async () => {
  const owners = { hold: () => Promise.resolve() };
  const accounts = { revokeSubKeys: () => Promise.resolve(), close: () => Promise.resolve(true) };
  const webhooks = { stopEndpoints: () => Promise.resolve() };
  const deployments = { stopAll: () => Promise.resolve() };
  const audit = {
    record: (_: unknown, act: (tx: Statements, note: () => void) => Promise<unknown>) =>
      test.database.transaction((tx) => act(tx, () => undefined)),
  };
  type Parts = ConstructorParameters<typeof Erasures>;
  const erasures = new Erasures(
    test.database,
    store,
    { accounts, webhooks, deployments } as unknown as Parts[2],
    () => Promise.resolve(true),
    audit as unknown as Parts[4],
    owners,
    () => undefined,
  );
  await test.database.execute(Prisma.sql`
    INSERT INTO erasures (id, account_id, subject, label, value, pseudonym, requested_by)
    SELECT gen_random_uuid(), ${accountId}::uuid, 'label', 'user', i::text, 'erased', 'test' FROM generate_series(1, 1000) i`);
  const actor = { actor: 'operator:1', keyId: null } as unknown as Parameters<Erasures['request']>[0];
  const label = (value: string): ReturnType<Erasures['request']> =>
    erasures.request(actor, accountId, { kind: 'label', label: 'user', value });
  await expect(label('one more')).rejects.toMatchObject({ code: 'rate_limited' });
  expect(await label('7')).toMatchObject({ isNew: false });
  expect(await erasures.request(actor, accountId, { kind: 'account' })).toMatchObject({ isNew: true });
  await test.database.execute(Prisma.sql`
    UPDATE erasures SET state = 'done', done_at = now(), value = NULL WHERE subject = 'account' OR value IN ('1', '2')`);
  expect(await label('one more')).toMatchObject({ isNew: true });
});

it('waits for what has to end first, and does what else is due meanwhile', async () => {
  const first = await ask();
  const waiting = runnerOf(() => Promise.resolve({ next: 'wait' }));
  expect(await waiting.runOnce()).toBe('waits');
  expect(await waiting.runOnce()).toBe('none_due');
  const second = await ask('bob');
  let taken: string | undefined;
  await runnerOf((_, lease) => {
    taken = lease.id;
    return Promise.resolve({ next: 'again' });
  }).runOnce();
  expect([first.id, second.id]).toContain(taken);
  expect(await read(first.id)).toMatchObject({ state: 'running', step: STEPS[0] });
});

it('looks at few of those that wait in a run, and goes on at once after a step that went on', async () => {
  const results: StepResult[] = [];
  let looks = 0;
  const runOnce = (): Promise<StepResult> => {
    looks += 1;
    return Promise.resolve(results.shift() ?? 'waits');
  };
  const loop = new CarryOutErasuresLoop({ runOnce });
  expect(await loop.runOnce()).toBe(0);
  expect(looks).toBeLessThanOrEqual(10);
  results.push('waits', 'went_on', 'none_due');
  expect(await loop.runOnce()).toBe(1);
  expect(await loop.runOnce()).toBe(0);
  expect(results).toEqual([]);
});

describe('the database', () => {
  const entry = async (details: object): Promise<string> => {
    const id = newId();
    const act = { actor: 'api_key:1', action: 'label_rule.put', subjectType: 'label_rule', subjectId: newId() };
    await test.database.models.auditEntry.create({
      data: { id, accountId, ...act, details: { ...details }, address: '192.0.2.1', reason: 'a ticket' },
    });
    return id;
  };

  it('lets an entry of the audit log be struck out, and nothing else be changed in it', async () => {
    const id = await entry({ value: 'ada' });
    const change = (set: Prisma.Sql): Promise<number> =>
      test.database.execute(Prisma.sql`UPDATE audit_log SET ${set} WHERE id = ${id}::uuid`);
    await expect(change(Prisma.sql`details = '{"value": "eve"}'`)).rejects.toThrow('only appended to');
    await expect(change(Prisma.sql`details = '{"erased": true}', actor = 'eve'`)).rejects.toThrow('only appended to');
    await expect(change(Prisma.sql`details = '{"erased": true}', reason = 'another'`)).rejects.toThrow(
      'only appended to',
    );
    expect(await change(Prisma.sql`details = '{"erased": true}', reason = NULL, address = NULL`)).toBe(1);
  });

  it('lets only the reason of a transaction be struck out', async () => {
    accountId = await makeAccount(test.database, { micros: 5n });
    const change = (set: Prisma.Sql): Promise<number> =>
      test.database.execute(Prisma.sql`UPDATE ledger_transactions SET ${set} WHERE account_id = ${accountId}::uuid`);
    await expect(change(Prisma.sql`reason = 'another'`)).rejects.toThrow('only appended to');
    await expect(change(Prisma.sql`reason = 'erased', kind = 'top_up'`)).rejects.toThrow('only appended to');
    await expect(
      test.database.execute(Prisma.sql`DELETE FROM ledger_transactions WHERE account_id = ${accountId}::uuid`),
    ).rejects.toThrow('only appended to');
    expect(await change(Prisma.sql`reason = 'erased'`)).toBe(1);
  });

  it('does not let a closed account be opened again', async () => {
    const change = (set: Prisma.Sql): Promise<number> =>
      test.database.execute(Prisma.sql`UPDATE accounts SET ${set} WHERE id = ${accountId}::uuid`);
    await change(Prisma.sql`status = 'suspended', closed_at = now()`);
    await expect(change(Prisma.sql`status = 'active'`)).rejects.toThrow('accounts_closed_check');
  });
});
