import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import { RunningApi, type TestAccount } from '../fixtures/running-api';

let api: RunningApi;
beforeAll(async () => {
  api = await RunningApi.open();
});
afterAll(() => api.close());

const GIVEN = 100_000_000;

interface Transaction {
  id: string;
  kind: string;
  available_micros: number;
  held_micros: number;
  corrects: string | null;
}

const adjust = (account: TestAccount, json: object, key?: string) =>
  api.operator().call<{ available_micros: number }>('POST', `/admin/v1/accounts/${account.id}/credits`, {
    json,
    headers: key === undefined ? {} : { 'Idempotency-Key': key },
  });
const read = <T>(account: TestAccount, path: string, headers: Record<string, string> = {}) =>
  api.client(account.key).call<T>('GET', `/platform/v1${path}`, { headers });

/** A usage record, as the end of a job writes one. */
async function use(account: TestAccount, at: string, chargedMicros: number, user: string | null): Promise<void> {
  const labels = user === null ? {} : { user };
  await api.test.database.models.usageRecord.create({
    data: {
      jobId: newId(),
      accountId: account.id,
      apiKeyId: account.keyId,
      status: 'succeeded',
      billableMs: BigInt(chargedMicros),
      chargedMicros: BigInt(chargedMicros),
      labels,
      finishedAt: new Date(at),
    },
  });
}

describe('credits', () => {
  it('are given and taken back by operators, once per Idempotency-Key', async () => {
    const account = await api.account();
    const json = { amount_micros: 5_000_000, reason: 'a gift' };
    expect((await adjust(account, json, 'k1')).body).toMatchObject({ available_micros: GIVEN + 5_000_000 });
    expect((await adjust(account, json, 'k1')).body).toMatchObject({ available_micros: GIVEN + 5_000_000 });
    expect(await adjust(account, { ...json, amount_micros: 1 }, 'k1')).toMatchObject({
      status: 422,
      body: { error: { code: 'idempotency_key_reuse' } },
    });
    const taken = await adjust(account, { amount_micros: -1_000_000, reason: 'too much' });
    expect(taken).toMatchObject({ status: 201, body: { available_micros: GIVEN + 4_000_000, held_micros: 0 } });
    expect((await read(account, '/credits')).body).toEqual({ available_micros: GIVEN + 4_000_000, held_micros: 0 });
  });

  it('are never taken beyond what is there, and the answer says how much that is', async () => {
    const account = await api.account();
    const refused = await adjust(account, { amount_micros: -GIVEN - 1, reason: 'all and more' });
    expect(refused).toMatchObject({
      status: 422,
      body: { error: { details: { fields: [{ field: 'amount_micros' }] } } },
    });
    expect(refused.text).toContain('100 credits');
    expect((await adjust(account, { amount_micros: 0, reason: 'nothing' })).status).toBe(422);
  });

  it('have a ledger that is read in pages, the latest first', async () => {
    const account = await api.account();
    for (const amount of [1, 2, 3, -2]) await adjust(account, { amount_micros: amount, reason: 'a step' });
    const seen: Transaction[] = [];
    let cursor = '';
    do {
      const { body } = await read<{ transactions: Transaction[]; next_cursor?: string }>(
        account,
        `/credits/ledger?limit=2${cursor}`,
      );
      seen.push(...body.transactions);
      cursor = body.next_cursor === undefined ? '' : `&cursor=${body.next_cursor}`;
    } while (cursor !== '');
    expect(seen.map(({ available_micros: amount }) => amount)).toEqual([-2, 3, 2, 1, GIVEN]);
    expect(seen[0]).toMatchObject({ kind: 'correction', corrects: seen[1]?.id });
    expect((await read(account, '/credits/ledger?cursor=nonsense')).status).toBe(400);
  });
});

describe('a rebuild of a balance', () => {
  const rebuild = (account: TestAccount, json?: object) =>
    api.operator().call<object>('POST', `/admin/v1/accounts/${account.id}/credits/rebuild`, { json });
  const logged = async (account: TestAccount): Promise<unknown[]> => {
    const query = `account_id=${account.id}&action=credits.rebuild`;
    const { body } = await api.operator().call<{ entries: unknown[] }>('GET', `/admin/v1/audit-log?${query}`);
    return body.entries;
  };

  it('is shown first, is done and recorded once it is asked for, and changes nothing the second time', async () => {
    const account = await api.account();
    const where = { accountId: account.id };
    await api.test.database.models.balance.update({ where, data: { availableMicros: BigInt(GIVEN + 7) } });
    const change = { before: { available_micros: GIVEN + 7 }, after: { available_micros: GIVEN }, lots_changed: 0 };
    const shown = await rebuild(account, { dry_run: true });
    expect(shown).toMatchObject({ status: 200, body: { dry_run: true, changed: true, ...change } });
    expect((await read(account, '/credits')).body).toMatchObject({ available_micros: GIVEN + 7 });
    expect(await logged(account)).toEqual([]);
    expect(await rebuild(account)).toMatchObject({ status: 200, body: { dry_run: false, changed: true, ...change } });
    expect((await read(account, '/credits')).body).toEqual({ available_micros: GIVEN, held_micros: 0 });
    expect((await rebuild(account)).body).toMatchObject({ changed: false, before: { available_micros: GIVEN } });
    const acts = [{ details: { changed: false } }, { actor: 'admin', details: { changed: true, ...change } }];
    expect(await logged(account)).toMatchObject(acts);
  });

  it('is refused where the entries of the ledger contradict each other, and for an account that is not there', async () => {
    const account = await api.account();
    await api.test.database.models.ledgerTransaction.create({
      data: { id: newId(), accountId: account.id, kind: 'grant', cause: newId(), actor: 'test', reason: 'no entries' },
    });
    const fields = [{ field: 'id', reason: expect.stringContaining('/admin/v1/audit') as string }];
    expect(await rebuild(account)).toMatchObject({ status: 422, body: { error: { details: { fields } } } });
    expect((await rebuild({ ...account, id: newId() })).status).toBe(404);
  });
});

describe('usage', () => {
  let account: TestAccount;
  beforeAll(async () => {
    account = await api.account();
    await use(account, '2026-03-01T23:59:59Z', 10, 'ann');
    await use(account, '2026-03-02T00:00:00Z', 20, '=HYPERLINK("x")');
    await use(account, '2026-03-02T10:00:00Z', 30, null);
    await use(account, '2026-03-03T00:00:00Z', 40, 'ann');
  });
  const span = 'from=2026-03-01&to=2026-03-03';

  it('is summed by day of UTC, without what lies outside', async () => {
    const { body } = await read(account, `/usage?${span}`);
    expect(body).toMatchObject({
      usage: [
        { group: '2026-03-01', jobs: 1, charged_micros: 10 },
        { group: '2026-03-02', jobs: 2, charged_micros: 50 },
      ],
      total: { jobs: 3, billable_ms: 60, charged_micros: 60 },
      group_by: 'day',
      truncated: false,
    });
  });

  it('is summed by key, by deployment and by the value of a label', async () => {
    const byKey = await read(account, `/usage?${span}&group_by=key`);
    expect(byKey.body).toMatchObject({ usage: [{ group: account.keyId, charged_micros: 60 }] });
    const byDeployment = await read(account, `/usage?${span}&group_by=deployment`);
    expect(byDeployment.body).toMatchObject({ usage: [{ group: null, jobs: 3 }] });
    const byLabel = await read<{ usage: { group: string | null }[] }>(account, `/usage?${span}&group_by=label:user`);
    expect(byLabel.body.usage.map(({ group }) => group)).toEqual([null, '=HYPERLINK("x")', 'ann']);
  });

  it('comes as CSV to clients that accept it, and no label of it is a formula', async () => {
    const answer = await read(account, `/usage?${span}&group_by=label:user`, { Accept: 'text/csv' });
    expect(answer.text.split('\r\n')).toEqual([
      'label:user,jobs,billable_ms,charged_micros',
      `"'=HYPERLINK(""x"")",1,20,20`,
      'ann,1,10,10',
      ',1,30,30',
      '',
    ]);
  });

  it.each([
    'group_by=nothing',
    'group_by=label:',
    'from=yesterday',
    'from=2026-03-02&to=2026-03-01',
    'from=2020-01-01',
  ])('asked for with %s is refused by the name of the field', async (query) => {
    const answer = await read(account, `/usage?${query}`);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain(query.split('=')[0]);
  });
});

describe('a statement', () => {
  /** Move what was posted just now into a month. */
  const backdate = async (account: TestAccount, at: string): Promise<void> => {
    await api.test.database.transaction(async (tx) => {
      await tx.execute(Prisma.sql`SET LOCAL session_replication_role = replica`);
      await tx.execute(Prisma.sql`
        UPDATE ledger_transactions SET at = ${new Date(at)}
        WHERE account_id = ${account.id}::uuid AND at > now() - interval '1 day'`);
    });
  };
  let account: TestAccount;
  beforeAll(async () => {
    account = await api.account();
    await backdate(account, '2026-01-31T23:59:59Z');
    await adjust(account, { amount_micros: 500, reason: 'a gift' });
    await backdate(account, '2026-02-01T00:00:00Z');
    await adjust(account, { amount_micros: -200, reason: 'too much' });
    await backdate(account, '2026-02-28T23:59:59Z');
  });

  it('of a month adds up from its opening to its closing balance', async () => {
    const { body } = await read<Record<string, number>>(account, '/statements/2026-02');
    expect(body).toEqual({
      month: '2026-02',
      final: true,
      opening_balance_micros: GIVEN,
      grants_micros: 500,
      top_ups_micros: 0,
      charges_micros: 0,
      expiries_micros: 0,
      corrections_micros: -200,
      closing_balance_micros: GIVEN + 300,
    });
  });

  it('begins with what the month before ended with, up to the present balance', async () => {
    const months = ['2026-01', '2026-02', '2026-03'];
    const answers = await Promise.all(
      months.map((month) => read<Record<string, number>>(account, `/statements/${month}`)),
    );
    const [january, february, march] = answers.map(({ body }) => body);
    expect(january?.opening_balance_micros).toBe(0);
    expect(february?.opening_balance_micros).toBe(january?.closing_balance_micros);
    expect(march?.opening_balance_micros).toBe(february?.closing_balance_micros);
    expect((await read(account, '/credits')).body).toMatchObject({ available_micros: march?.closing_balance_micros });
  });

  it('comes as CSV, a line per movement', async () => {
    const { text } = await read(account, '/statements/2026-02', { Accept: 'text/csv' });
    expect(text.split('\r\n').slice(0, 3)).toEqual([
      'month,line,amount_micros',
      `2026-02,opening_balance,${GIVEN}`,
      '2026-02,grants,500',
    ]);
  });

  it.each(['2026-13', '2026', 'x', '2999-01'])('of %s does not exist', async (month) => {
    expect((await read(account, `/statements/${month}`)).status).toBe(404);
  });
});
