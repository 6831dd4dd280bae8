import { Prisma } from '@prisma/client';
import { lowestIdAt } from '@millrace/contracts';
import {
  byId,
  lookedAt,
  pageOfLookedAt,
  type IdSpan,
  type LookedAtRow,
  type RowOwner,
  type Statements,
} from '@millrace/database';
import type { AuditEntry, AuditFilter } from './audit-log';

/** Which entries of its own log an account asks for; absent means all. */
export interface AccountAuditFilter {
  /** As accounts see it: `operator` is any of them. */
  actor?: string | undefined;
  action?: string | undefined;
  subjectId?: string | undefined;
  /** Entries at or after this. */
  from?: Date | undefined;
  /** Entries before this. */
  to?: Date | undefined;
}

/** A place in the log, and how many entries of it. */
export type LogSpan = IdSpan & { limit: number };

/** Entries of a page, and the id behind which the next begins; null: there are no more. */
export interface ListedEntries {
  entries: AuditEntry[];
  last: string | null;
}

type EntryRow = AuditEntry & LookedAtRow;

/** Ids have the time of the process that wrote them, which may be off. By as much, which is generous, no entry of a span of time is missed. */
const SPAN_MARGIN_MS = 3_600_000;

/**
 * Who acts for an account, or for it with others, as a regular expression of PostgreSQL. All other actors are operators: which of
 * them it was, and from where, is the service's own. An actor that is not named here is kept from accounts.
 */
const OUTSIDERS = '^((api_key|member):.*|self_hosted|sign_in_link|invitation|stripe|unauthenticated)$';
const IS_OUTSIDER = new RegExp(OUTSIDERS);
/** A column of actors, as an account sees them. */
export const actorsSeenByAccount = (column: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`CASE WHEN ${column} ~ ${OUTSIDERS} THEN ${column} ELSE 'operator' END`;
/** An actor, as an account sees it: `operator` is any of them. */
export function actorSeenByAccount(actor: string): string {
  return IS_OUTSIDER.test(actor) ? actor : 'operator';
}

/** How an entry was sealed is not what it says. */
const columns = Prisma.sql`e.id, e.at, e.action, e.subject_type, e.subject_id, e.account_id, e.details, e.reason`;
/** An actor and a network address, as they are, and as an account sees them. */
const actorOf = { all: Prisma.sql`e.actor`, account: actorsSeenByAccount(Prisma.sql`e.actor`) };
const addressOf = {
  all: Prisma.sql`e.address`,
  account: Prisma.sql`CASE WHEN e.actor ~ ${OUTSIDERS} THEN e.address END`,
};
type Reader = keyof typeof actorOf;

/** A page of the log of all accounts: of what was done to a subject, else of what concerns an account, else of all. */
export async function listEntries(tx: Statements, filter: AuditFilter, span: LogSpan): Promise<ListedEntries> {
  return pageOf(await tx.rows<EntryRow>(entriesSql(filter, span)), span);
}

/**
 * A page of what concerns an account, as it sees it. What was done to a subject is found at once where that is little. Where it is much, or not the
 * account's, the account's own log is walked for it: so the place of another's entry is never shown.
 */
export async function listEntriesOfAccount(
  tx: Statements,
  accountId: string,
  filter: AccountAuditFilter,
  span: LogSpan,
): Promise<ListedEntries> {
  if (filter.subjectId !== undefined) {
    const rows = await tx.rows<EntryRow>(entriesOfSubjectSql(accountId, filter, span));
    const { last } = pageOfLookedAt(rows, span.limit);
    if (last === null || last.isShown) return pageOf(rows, span);
  }
  return pageOf(await tx.rows<EntryRow>(entriesOfAccountSql(accountId, filter, span)), span);
}

/*
 * The statements, whose plans a test checks.
 */

export function entriesSql(filter: AuditFilter, span: LogSpan): Prisma.Sql {
  const { accountId, subjectId } = filter;
  const ofOne = accountId === undefined ? null : ofAccount(accountId);
  return selection('all', subjectId === undefined ? ofOne : ofSubject(subjectId), filter, span);
}

export function entriesOfAccountSql(accountId: string, filter: AccountAuditFilter, span: LogSpan): Prisma.Sql {
  return selection('account', ofAccount(accountId), { ...filter, accountId }, span);
}

export function entriesOfSubjectSql(accountId: string, filter: AccountAuditFilter, span: LogSpan): Prisma.Sql {
  return selection('account', ofSubject(filter.subjectId ?? ''), { ...filter, accountId }, span);
}

const ofAccount = (accountId: string): RowOwner => ({ column: 'account_id', value: Prisma.sql`${accountId}::uuid` });
const ofSubject = (subjectId: string): RowOwner => ({ column: 'subject_id', value: Prisma.sql`${subjectId}::text` });

function selection(reader: Reader, walked: RowOwner | null, filter: AuditFilter, span: LogSpan): Prisma.Sql {
  const ids = byId('e', walked, withinTime(filter, span));
  const list = { table: 'audit_log', alias: 'e', ...ids, shown: matching(reader, filter), limit: span.limit };
  return Prisma.sql`
    SELECT ${columns}, ${actorOf[reader]} AS actor, ${addressOf[reader]} AS address, e.nth, e.is_shown
    FROM (${lookedAt(list)}) e ORDER BY e.nth`;
}

/** Entries of a span of time are looked for among the ids of about that time alone. */
function withinTime({ from, to }: AuditFilter, { after, before, oldestFirst }: IdSpan): IdSpan {
  const first = from === undefined ? null : lowestIdAt(from.getTime() - SPAN_MARGIN_MS);
  const end = to === undefined ? null : lowestIdAt(to.getTime() + SPAN_MARGIN_MS);
  const ids = (one: string | null, other: string | null): string[] => [one, other].filter((id) => id !== null).sort();
  return { after: ids(after, first).at(-1) ?? null, before: ids(before, end)[0] ?? null, oldestFirst };
}

function matching(reader: Reader, { accountId, actor, action, subjectId, from, to }: AuditFilter): Prisma.Sql[] {
  return [
    accountId !== undefined && Prisma.sql`e.account_id = ${accountId}::uuid`,
    actor !== undefined && Prisma.sql`${actorOf[reader]} = ${actor}`,
    action !== undefined && Prisma.sql`e.action = ${action}`,
    subjectId !== undefined && Prisma.sql`e.subject_id = ${subjectId}`,
    from !== undefined && Prisma.sql`e.at >= ${from}::timestamptz`,
    to !== undefined && Prisma.sql`e.at < ${to}::timestamptz`,
  ].filter((condition) => condition !== false);
}

function pageOf(rows: readonly EntryRow[], { limit }: LogSpan): ListedEntries {
  const { shown, last } = pageOfLookedAt(rows, limit);
  return { entries: shown.map(entryOf), last: last?.id ?? null };
}

function entryOf({ nth: _, isShown: __, ...entry }: EntryRow): AuditEntry {
  return entry;
}
