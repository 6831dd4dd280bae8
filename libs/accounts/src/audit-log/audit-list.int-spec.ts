import fc from 'fast-check';
import { Prisma } from '@prisma/client';
import { lowestIdAt, newId } from '@millrace/contracts';
import { LOOKED_AT, decodeCursor, type Page } from '@millrace/database';
import { createTestDatabase, makeAccount, readingsOf, type TestDatabase } from '@millrace/testing';
import { AccountAuditLog } from './account-audit-log';
import {
  actorSeenByAccount,
  entriesOfAccountSql,
  entriesOfSubjectSql,
  entriesSql,
  type AccountAuditFilter,
} from './audit-list.store';
import type { AuditEntry } from './audit-log';
import { AuditLog } from './audit-log.service';
import { AuditLogStore } from './audit-log.store';

/** Enough that PostgreSQL prefers an index wherever there is one that serves. */
const ENTRIES = 20_000;
const LIMIT = 20;
const BEGIN = Date.parse('2026-01-01T00:00:00Z');
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;

let test: TestDatabase;
let log: AccountAuditLog;
let operators: AuditLog;
let accountId: string;
let others: string;
/** Of the account: the one entry of this actor is the oldest. */
const ancestor = `member:${newId()}`;
beforeAll(async () => {
  test = await createTestDatabase();
  log = new AccountAuditLog(test.database);
  operators = new AuditLog(test.database, new AuditLogStore());
  [accountId, others] = [await makeAccount(test.database), await makeAccount(test.database)];
  await fill(accountId, { actor: ancestor, subject: 'first', count: 1, at: BEGIN });
  await fill(accountId, { count: ENTRIES, at: BEGIN + DAY_MS });
  // All that others did is newer: who walks the log of all for what the account did reads it in vain.
  await fill(others, { count: ENTRIES, at: BEGIN + 100 * DAY_MS });
  await test.database.execute(Prisma.sql`ANALYZE audit_log`);
});
afterAll(() => test.drop());

interface Filling {
  actor?: string;
  action?: string;
  /** A subject of all; by default each has its own. */
  subject?: string | null;
  count: number;
  /** Of the first; each of the others is a minute after the one before. */
  at: number;
}

async function fill(
  account: string,
  { actor = 'admin', action = 'done', subject = null, count, at }: Filling,
): Promise<void> {
  await test.database.execute(Prisma.sql`
    INSERT INTO audit_log (id, at, account_id, actor, action, subject_type, subject_id)
    SELECT (lpad(to_hex(ms), 12, '0') || '7000' || right(md5(random()::text), 16))::uuid, to_timestamp(ms / 1000.0),
      ${account}::uuid, ${actor}, ${action}, 'thing', coalesce(${subject}::text, gen_random_uuid()::text)
    FROM (SELECT ${at}::bigint + n * ${MINUTE_MS}::bigint AS ms FROM generate_series(0, ${count - 1}::int) n) made`);
}

/** All pages of a list, one after the other. */
async function pagesOf(
  list: (page: { cursor: string | null; limit: number }) => Promise<Page<AuditEntry>>,
  limit = LIMIT,
): Promise<Page<AuditEntry>[]> {
  const pages: Page<AuditEntry>[] = [];
  for (let cursor: string | null | undefined = null; cursor !== undefined;) {
    const page: Page<AuditEntry> = await list({ cursor, limit });
    pages.push(page);
    cursor = page.nextCursor;
  }
  return pages;
}
const ownPages = (filter: AccountAuditFilter, account = accountId, limit = LIMIT): Promise<Page<AuditEntry>[]> =>
  pagesOf((page) => log.list(account, filter, page), limit);
const sizesOf = (pages: readonly Page<AuditEntry>[]): number[] => pages.map(({ items }) => items.length);
const at = (minutes: number): Date => new Date(BEGIN + DAY_MS + minutes * MINUTE_MS);

describe('a page of a log', () => {
  const span = { before: null, after: null, limit: LIMIT };
  const middle = { ...span, before: lowestIdAt(at(ENTRIES / 2).getTime()) };
  const [byAccount, bySubject] = ['audit_log_account_id_id_idx', 'audit_log_subject_id_id_idx'];

  it.each<[string, () => Prisma.Sql, string, number]>([
    ['the newest', () => entriesOfAccountSql(accountId, {}, span), byAccount, 2 * LIMIT],
    [
      'the oldest first',
      () => entriesOfAccountSql(accountId, {}, { ...span, oldestFirst: true }),
      byAccount,
      2 * LIMIT,
    ],
    ['after a cursor', () => entriesOfAccountSql(accountId, {}, middle), byAccount, 2 * LIMIT],
    ['of an actor', () => entriesOfAccountSql(accountId, { actor: ancestor }, span), byAccount, LOOKED_AT],
    [
      'of an actor after a cursor',
      () => entriesOfAccountSql(accountId, { actor: ancestor }, middle),
      byAccount,
      LOOKED_AT,
    ],
    ['of an action', () => entriesOfAccountSql(accountId, { action: 'undone' }, span), byAccount, LOOKED_AT],
    ['of a time', () => entriesOfAccountSql(accountId, { from: at(0), to: at(10) }, span), byAccount, LOOKED_AT],
    ['of a subject', () => entriesOfSubjectSql(accountId, { subjectId: 'first' }, span), bySubject, 1],
    ['of all accounts', () => entriesSql({}, span), 'audit_log_pkey', 2 * LIMIT],
    ['of all accounts of an actor', () => entriesSql({ actor: ancestor }, span), 'audit_log_pkey', LOOKED_AT],
    ['of one of all accounts', () => entriesSql({ accountId, action: 'undone' }, span), byAccount, LOOKED_AT],
    ['of a subject of all accounts', () => entriesSql({ subjectId: 'first', accountId }, span), bySubject, 1],
  ])('%s is read by one index, and looks at no more than a thousand entries', async (_what, sql, index, most) => {
    const readings = await readingsOf(test.database, sql(), 'audit_log');
    expect(readings.map((reading) => [reading.node, reading.index])).toEqual([['Index Scan', index]]);
    expect(readings[0]?.rows).toBeLessThanOrEqual(most);
  });
});

describe('a filter that few entries match', () => {
  it('has pages without entries that say where it goes on, until it finds them', async () => {
    const filters = [{ actor: ancestor }, { subjectId: 'first', actor: 'operator' }];
    const [pages = [], none = []] = await Promise.all(filters.map((filter) => ownPages(filter)));
    expect(sizesOf(pages)).toEqual([...Array.from({ length: ENTRIES / LOOKED_AT }, () => 0), 1]);
    expect(sizesOf(none)).toEqual([0]);
    const all = await pagesOf((page) => operators.list({ actor: ancestor }, page));
    expect(sizesOf(all)).toEqual([...Array.from({ length: (2 * ENTRIES) / LOOKED_AT }, () => 0), 1]);
  });

  it('finds the entries of a time at once, however much was done since', async () => {
    expect(sizesOf(await ownPages({ to: new Date(BEGIN + MINUTE_MS) }))).toEqual([1]);
    const [page] = await ownPages({ from: at(5), to: at(7) });
    expect(page?.items.map((entry) => entry.at)).toEqual([at(6), at(5)]);
  });
});

describe('what was done to a subject', () => {
  it('is found at once, however much else was done', async () => {
    expect(sizesOf(await ownPages({ subjectId: 'first' }))).toEqual([1]);
  });

  it('is found behind more than a thousand acts of others on it, of which no cursor says anything', async () => {
    const account = await makeAccount(test.database);
    await fill(account, { subject: 'of many', count: 3, at: BEGIN });
    await fill(others, { subject: 'of many', count: LOOKED_AT + 500, at: BEGIN + DAY_MS });
    const pages = await ownPages({ subjectId: 'of many' }, account, 2);
    expect(sizesOf(pages)).toEqual([2, 1]);
    const cursors = pages.flatMap(({ nextCursor }) => nextCursor ?? []);
    const places = cursors.map((cursor) => decodeCursor('account-audit-log', cursor, () => true));
    expect(places).toEqual([pages[0]?.items[1]?.id]);
    expect(sizesOf(await ownPages({ subjectId: 'of many' }, await makeAccount(test.database)))).toEqual([0]);
  });
});

describe('the pages of a log', () => {
  it('have each entry that matches once, newest first, and an export the same, oldest first', async () => {
    const account = await makeAccount(test.database);
    const parts = ['admin', 'stripe', 'something new', `api_key:${newId()}`];
    for (const [nth, actor] of parts.entries()) {
      const action = nth < 2 ? 'one' : 'two';
      await fill(account, { actor, action, count: 400 * (nth + 1), at: BEGIN + nth * 7 * DAY_MS });
      await fill(account, { actor, action, subject: 'often', count: 700, at: BEGIN + nth * 5 * DAY_MS + 1 });
    }
    const all = await test.database.models.auditEntry.findMany({
      where: { accountId: account },
      orderBy: { id: 'desc' },
      select: { id: true, at: true, actor: true, action: true, subjectId: true },
    });
    const times = fc.option(
      fc.integer({ min: 0, max: 40 }).map((days) => new Date(BEGIN + days * DAY_MS)),
      { nil: undefined },
    );
    const filters = fc.record({
      actor: fc.constantFrom(undefined, 'operator', 'stripe', 'nobody'),
      action: fc.constantFrom(undefined, 'one', 'two'),
      subjectId: fc.constantFrom(undefined, undefined, 'often', all[7]?.subjectId),
      from: times,
      to: times,
    });
    const seed = Number(process.env.MILLRACE_TEST_SEED || Date.now());
    await fc.assert(
      fc.asyncProperty(filters, fc.integer({ min: 15, max: 100 }), async (filter, limit) => {
        const { actor, action, subjectId, from, to } = filter;
        const expected = all
          .filter((entry) => actor === undefined || actorSeenByAccount(entry.actor) === actor)
          .filter((entry) => action === undefined || entry.action === action)
          .filter((entry) => subjectId === undefined || entry.subjectId === subjectId)
          .filter((entry) => (from === undefined || entry.at >= from) && (to === undefined || entry.at < to))
          .map(({ id }) => id);
        const pages = await ownPages(filter, account, limit);
        expect(pages.flatMap(({ items }) => items.map(({ id }) => id))).toEqual(expected);
        expect(Math.max(...sizesOf(pages))).toBeLessThanOrEqual(limit);
        const exported: string[] = [];
        await log.send(account, filter, async (parts) => {
          for await (const entries of parts) exported.push(...entries.map(({ id }) => id));
        });
        expect(exported.reverse()).toEqual(expected);
      }),
      { numRuns: 25, seed },
    );
  });

  it('of operators show who acted, and from where', async () => {
    const account = await makeAccount(test.database);
    await operators.record({ actor: 'token:night', address: '10.0.0.7', reason: 'asked' }, async (_tx, note) => {
      note({ action: 'done', subjectType: 'thing', subjectId: account, accountId: account, details: { n: 1 } });
      return Promise.resolve();
    });
    const [page] = await pagesOf((place) => operators.list({ accountId: account }, place));
    expect(page?.items).toEqual([
      {
        id: expect.any(String) as string,
        at: expect.any(Date) as Date,
        actor: 'token:night',
        address: '10.0.0.7',
        reason: 'asked',
        action: 'done',
        subjectType: 'thing',
        subjectId: account,
        accountId: account,
        details: { n: 1 },
      },
    ]);
    expect((await ownPages({}, account))[0]?.items[0]).toMatchObject({ actor: 'operator', address: null });
  });
});
