import { Prisma } from '@prisma/client';
import { lowestIdAt, newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Act, ActDetails, AuditEntry, AuditFilter, Operator } from './audit-log';

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

/** Ids have the time of the process that wrote them; the entry that it is looked for in may have another one's. */
const CLOCKS_DIFFER_MS = 600_000;

/**
 * Who acts for an account, or for it with others, as a regular expression of PostgreSQL. All other actors are operators: which of
 * them it was, and from where, is the service's own. An actor that is not named here is kept from accounts.
 */
const OUTSIDERS = '^((api_key|member):.*|self_hosted|sign_in_link|invitation|stripe|unauthenticated)$';
const IS_OUTSIDER = new RegExp(OUTSIDERS);
/** A column of actors, as an account sees them. */
export const actorsSeenByAccount = (column: Prisma.Sql): Prisma.Sql =>
  Prisma.sql`CASE WHEN ${column} ~ ${OUTSIDERS} THEN ${column} ELSE 'operator' END`;
const actorSeen = actorsSeenByAccount(Prisma.sql`actor`);
/** An actor, as an account sees it: `operator` is any of them. */
export function actorSeenByAccount(actor: string): string {
  return IS_OUTSIDER.test(actor) ? actor : 'operator';
}

/** How an entry was sealed is not what it says. */
const SEALING = { segment: true, salt: true, contentDigest: true, digest: true } as const;

/** The SQL of the audit log: append, read, and delete what is old. */
export class AuditLogStore {
  /** Written in the transaction of the act itself: neither exists without the other. */
  async append(tx: Statements, { actor, address, reason = null }: Operator, act: Act): Promise<void> {
    const details: Prisma.InputJsonObject = act.details ?? {};
    const data = { ...act, actor, address, reason, details, id: newId() };
    await tx.models.auditEntry.create({ data, select: { id: true } });
  }

  /** Let nobody else note what this actor does until the transaction ends. */
  async lockActor(tx: Statements, { actor }: Operator): Promise<void> {
    await tx.rows(Prisma.sql`
      SELECT pg_advisory_xact_lock(hashtextextended(${`acts of ${actor}`}, 0))::text AS locked`);
  }

  /**
   * Those of the subjects to which this actor has done the same within `seconds`, for the same reason. Only entries that are young by their
   * ids are read: a subject may have any number of them.
   */
  async listRecent(tx: Statements, operator: Operator, acts: readonly Act[], seconds: number): Promise<string[]> {
    const [{ action } = { action: '' }] = acts;
    const rows = await tx.rows<{ subjectId: string }>(Prisma.sql`
      SELECT DISTINCT subject_id FROM audit_log
      WHERE subject_id = ANY (${acts.map(({ subjectId }) => subjectId)}::text[])
        AND id >= ${lowestIdAt(Date.now() - seconds * 1_000 - CLOCKS_DIFFER_MS)}::uuid
        AND action = ${action} AND actor = ${operator.actor}
        AND reason IS NOT DISTINCT FROM ${operator.reason ?? null} AND at > now() - make_interval(secs => ${seconds})`);
    return rows.map(({ subjectId }) => subjectId);
  }

  /** Entries newest first, `limit` at most, older than the entry `before` where one is given. */
  async list(tx: Statements, filter: AuditFilter, before: string | null, limit: number): Promise<AuditEntry[]> {
    const { accountId, actor, action, subjectId, from, to } = filter;
    const rows = await tx.models.auditEntry.findMany({
      where: { accountId, actor, action, subjectId, at: { gte: from, lt: to }, id: { lt: before ?? undefined } },
      orderBy: { id: 'desc' },
      take: limit,
      omit: SEALING,
    });
    return rows.map(({ details, ...row }) => ({ ...row, details: details as ActDetails }));
  }

  /**
   * Entries that concern an account, as it sees them, `limit` at most: newest first and older than the entry `before`, or where
   * `after` is given oldest first and newer than that.
   */
  async listOfAccount(
    tx: Statements,
    accountId: string,
    filter: AccountAuditFilter,
    { before, after, limit }: { before: string | null; after: string | null; limit: number },
  ): Promise<AuditEntry[]> {
    const { actor, action, subjectId, from, to } = filter;
    const conditions = [
      actor !== undefined && Prisma.sql`${actorSeen} = ${actor}`,
      action !== undefined && Prisma.sql`action = ${action}`,
      subjectId !== undefined && Prisma.sql`subject_id = ${subjectId}`,
      from !== undefined && Prisma.sql`at >= ${from}`,
      to !== undefined && Prisma.sql`at < ${to}`,
      before !== null && Prisma.sql`id < ${before}::uuid`,
      after !== null && Prisma.sql`id > ${after}::uuid`,
    ].filter((condition) => condition !== false);
    return tx.rows<AuditEntry>(Prisma.sql`
      SELECT id, at, ${actorSeen} AS actor, action, subject_type, subject_id, account_id,
        CASE WHEN actor ~ ${OUTSIDERS} THEN address END AS address, details, reason
      FROM audit_log
      WHERE ${Prisma.join([Prisma.sql`account_id = ${accountId}::uuid`, ...conditions], ' AND ')}
      ORDER BY id ${after === null ? Prisma.sql`DESC` : Prisma.sql`ASC`} LIMIT ${limit}`);
  }

  /**
   * Delete sealed segments of which all entries are older than `keptSeconds`, the oldest first, until `batch` entries are gone or none is
   * left; the newest stays. @returns how many entries.
   *
   * @throws the database's refusal (MR002) when an entry is younger than `AUDIT_LOG_FLOOR_SECONDS`.
   */
  async deleteOld(tx: Statements, keptSeconds: number, batch: number): Promise<number> {
    const [row] = await tx.rows<{ gone: number }>(Prisma.sql`
      SELECT sweep_audit_log(${keptSeconds}::bigint, ${batch}::int)::float8 AS gone`);
    return row?.gone ?? 0;
  }
}
