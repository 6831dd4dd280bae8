import { Prisma } from '@prisma/client';
import { newId, type MemberRole } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

/** A person of an account. */
export interface Member {
  id: string;
  accountId: string;
  /** In lower case. */
  email: string;
  role: MemberRole;
  createdAt: Date;
}

/** Where a person may sign in, and the key as which their sessions act there. */
export interface Membership {
  email: string;
  accountId: string;
  accountName: string;
  apiKeyId: string;
}

const columns = Prisma.sql`m.id, m.account_id, m.email, m.role, m.created_at`;
/** With `WITH RECURSIVE`: the keys of the members of a relation, those that these keys made, and so on, also those of others. */
export const keysOfMembers = (members: Prisma.Sql): Prisma.Sql => Prisma.sql`
  SELECT k.id FROM api_keys k WHERE k.member_id IN (${members})
  UNION
  SELECT child.id FROM api_keys child JOIN family ON child.parent_id = family.id`;
/** Whether an account keeps an owner without the member `m`. */
const keepsOwner = Prisma.sql`
  EXISTS (SELECT FROM members o WHERE o.account_id = m.account_id AND o.role = 'owner' AND o.removed_at IS NULL AND o.id <> m.id)`;

/** The SQL of members. One that was removed stays, so that the log of acts has whom it names. */
export class MemberStore {
  /** @returns null where somebody of this address is a member already. */
  async insert(
    tx: Statements,
    { accountId, email, role }: Pick<Member, 'accountId' | 'email' | 'role'>,
  ): Promise<string | null> {
    const rows = await tx.rows<{ id: string }>(Prisma.sql`
      INSERT INTO members (id, account_id, email, role) VALUES (${newId()}::uuid, ${accountId}::uuid, ${email}, ${role})
      ON CONFLICT (email, account_id) WHERE removed_at IS NULL DO NOTHING RETURNING id`);
    return rows[0]?.id ?? null;
  }

  async list(tx: Statements, accountId: string): Promise<Member[]> {
    return tx.rows(Prisma.sql`
      SELECT ${columns} FROM members m WHERE m.account_id = ${accountId}::uuid AND m.removed_at IS NULL ORDER BY m.id DESC`);
  }

  async find(tx: Statements, accountId: string, id: string): Promise<Member | null> {
    const [member] = await tx.rows<Member>(Prisma.sql`
      SELECT ${columns} FROM members m
      WHERE m.account_id = ${accountId}::uuid AND m.id = ${id}::uuid AND m.removed_at IS NULL`);
    return member ?? null;
  }

  async isMember(tx: Statements, accountId: string, email: string): Promise<boolean> {
    const rows = await tx.rows(Prisma.sql`
      SELECT 1 FROM members m WHERE m.email = ${email} AND m.account_id = ${accountId}::uuid AND m.removed_at IS NULL`);
    return rows.length > 0;
  }

  /** Give a member another role, unless the account would have no owner then. The account's row is held. */
  async changeRole(tx: Statements, { accountId, id }: Member, role: MemberRole): Promise<boolean> {
    const changed = await tx.execute(Prisma.sql`
      UPDATE members m SET role = ${role}
      WHERE m.account_id = ${accountId}::uuid AND m.id = ${id}::uuid AND m.removed_at IS NULL
        AND (m.role <> 'owner' OR ${role}::text = 'owner' OR ${keepsOwner})`);
    return changed > 0;
  }

  /**
   * End a member, their keys, what these made, and links and sessions of all of them, in one statement; nothing where the account would have
   * no owner then. The account's row is held, so that no key is made meanwhile.
   *
   * @returns the keys that ended by it; null where the member stays.
   */
  async remove(tx: Statements, { accountId, id }: Member): Promise<string[] | null> {
    const [row] = await tx.rows<{ removed: number; keys: string[] | null }>(Prisma.sql`
      WITH RECURSIVE removed AS (
        UPDATE members m SET removed_at = now()
        WHERE m.account_id = ${accountId}::uuid AND m.id = ${id}::uuid AND m.removed_at IS NULL AND (m.role <> 'owner' OR ${keepsOwner})
        RETURNING m.id
      ), family (id) AS (
        ${keysOfMembers(Prisma.sql`SELECT id FROM removed`)}
      ), keys AS (
        UPDATE api_keys k SET revoked_at = now()
        WHERE k.account_id = ${accountId}::uuid AND k.id IN (SELECT id FROM family) AND (k.revoked_at IS NULL OR k.revoked_at > now())
        RETURNING k.id, k.is_session_key
      ), sessions AS (
        DELETE FROM console_sessions s USING keys WHERE s.api_key_id = keys.id
      ), links AS (
        DELETE FROM sign_in_links l USING keys WHERE l.api_key_id = keys.id
      )
      SELECT (SELECT count(*)::int FROM removed) AS removed, (SELECT array_agg(id) FROM keys WHERE NOT is_session_key) AS keys`);
    return row === undefined || row.removed === 0 ? null : (row.keys ?? []);
  }

  /**
   * The memberships of these addresses in accounts that are active, `limit` of each at most: one statement however many.
   * None of an address that nobody has.
   */
  async membershipsOf(tx: Statements, emails: readonly string[], limit: number): Promise<Membership[]> {
    if (emails.length === 0) return [];
    return tx.rows(Prisma.sql`
      SELECT found.* FROM unnest(${emails}::text[]) AS asked (email) CROSS JOIN LATERAL (
        SELECT m.email, m.account_id, a.name AS account_name, k.id AS api_key_id
        FROM members m JOIN accounts a ON a.id = m.account_id
          JOIN api_keys k ON k.member_id = m.id AND k.is_session_key AND k.revoked_at IS NULL
        WHERE m.email = asked.email AND m.removed_at IS NULL AND a.status = 'active'
        ORDER BY m.id LIMIT ${limit}
      ) found`);
  }

  /** Take their addresses from members who were removed `days` ago, `batch` at most. @returns how many. */
  async forgetRemoved(tx: Statements, days: number, batch: number): Promise<number> {
    return tx.execute(Prisma.sql`
      UPDATE members SET email = 'removed-' || id WHERE id IN (
        SELECT id FROM members WHERE removed_at < now() - make_interval(days => ${days}::int) AND email LIKE '%@%'
        ORDER BY removed_at LIMIT ${batch})`);
  }

  /** Those who look after what is built on an account that is active: its owners and developers. */
  async developersOf(tx: Statements, accountId: string): Promise<{ email: string; accountName: string }[]> {
    return this.ofRoles(tx, accountId, ['owner', 'developer']);
  }

  /** Count a notice to them. @returns the how manieth of the day (UTC) it is; null: they had as many as the limit. */
  async takeDeveloperNotice(tx: Statements, accountId: string, limit: number): Promise<number | null> {
    const today = Prisma.sql`(now() AT TIME ZONE 'UTC')::date`;
    const [row] = await tx.rows<{ nth: number }>(Prisma.sql`
      UPDATE accounts SET developer_mails_on = ${today},
        developer_mails = CASE WHEN developer_mails_on = ${today} THEN developer_mails + 1 ELSE 1 END
      WHERE id = ${accountId}::uuid AND (developer_mails_on IS DISTINCT FROM ${today} OR developer_mails < ${limit})
      RETURNING developer_mails AS nth`);
    return row?.nth ?? null;
  }

  /** Those who answer for the money of an account that is active: its owners and finance members. */
  async payersOf(tx: Statements, accountId: string): Promise<{ email: string; accountName: string }[]> {
    return this.ofRoles(tx, accountId, ['owner', 'finance']);
  }

  private async ofRoles(
    tx: Statements,
    accountId: string,
    roles: readonly MemberRole[],
  ): Promise<{ email: string; accountName: string }[]> {
    return tx.rows(Prisma.sql`
      SELECT m.email, a.name AS account_name FROM members m JOIN accounts a ON a.id = m.account_id
      WHERE m.account_id = ${accountId}::uuid AND m.removed_at IS NULL AND m.role = ANY (${roles}::text[]) AND a.status = 'active'
      ORDER BY m.id`);
  }
}
