import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { allowListsOf } from '../address-lists';
import { limitsOf, type AccountLimits } from '../account-limits';
import { allowedColumns, isLive, limitColumns, rightsColumns, type AllowedRow, type MemberRow } from '../api-key.store';
import type { Caller } from '../caller';
import { scopesNow, type StoredRights } from '../key-scopes';
import type {
  ConsoleSession,
  ListedSession,
  SessionGrant,
  SessionHolder,
  SessionsHolder,
  SessionsOf,
} from './console-session';

type HolderRow = Pick<Caller, 'accountId' | 'apiKeyId' | 'accountStatus'> &
  AccountLimits &
  AllowedRow &
  MemberRow &
  StoredRights & { id: string; validMs: number };

/** Without a key, as on a self-hosted surface, there are neither rights nor a member. */
interface SessionRow extends MemberRow, StoredRights {
  memberEmail: string | null;
  id: string;
  accountId: string;
  accountName: string;
  keyId: string | null;
  keyName: string | null;
  expiresAt: Date;
}

type ListedRow = Omit<SessionRow, 'accountId' | 'accountName' | keyof StoredRights> & {
  createdAt: Date;
  isSessionKey: boolean | null;
};

/**
 * The session `s`, its account, and its key, which a session of a self-hosted surface does not have. Of any key of a member the role
 * counts: a key that they made opens a session, too.
 */
const sessions = Prisma.sql`
  console_sessions s JOIN accounts a ON a.id = s.account_id LEFT JOIN api_keys k ON k.id = s.api_key_id
    LEFT JOIN members m ON m.id = k.member_id`;
/** A session ends with its key. */
const isOpen = Prisma.sql`s.expires_at > now() AND ${isLive}`;
/** Its key may end before it does. */
const end = Prisma.sql`least(s.expires_at, k.expires_at, k.revoked_at)`;

/** The SQL of console sessions. One that has ended is deleted. */
export class SessionStore {
  /**
   * Record a session of an active account and a key of it that works. A sub-key has none: a console shows an account.
   *
   * @returns its id; null when account or key let nobody in.
   */
  async create(
    tx: Statements,
    { accountId, apiKeyId }: SessionGrant,
    hash: Buffer,
    lifeSeconds: number,
  ): Promise<string | null> {
    const id = newId();
    const count = await tx.execute(Prisma.sql`
      INSERT INTO console_sessions (id, account_id, api_key_id, secret_hash, expires_at)
      SELECT ${id}::uuid, a.id, k.id, ${hash}, now() + make_interval(secs => ${lifeSeconds})
      FROM accounts a LEFT JOIN api_keys k ON k.account_id = a.id AND k.id = ${apiKeyId}::uuid
      WHERE a.id = ${accountId}::uuid AND a.status = 'active'
        AND (k.id IS NOT NULL OR ${apiKeyId}::uuid IS NULL) AND k.labels IS NULL AND ${isLive}`);
    return count === 0 ? null : id;
  }

  /** Of an account in which nobody may sign in, whether it is only suspended. */
  async isSuspended(tx: Statements, accountId: string): Promise<boolean> {
    return (
      (await tx.rows(Prisma.sql`SELECT 1 FROM accounts WHERE id = ${accountId}::uuid AND status = 'suspended'`))
        .length > 0
    );
  }

  /** Who presents a session of this hash; null when there is none now. Hot: one indexed statement. */
  async findHolder(tx: Statements, hash: Buffer): Promise<SessionHolder | null> {
    const [row] = await tx.rows<HolderRow>(Prisma.sql`
      SELECT s.id, s.account_id, s.api_key_id, a.status AS account_status, a.weight, ${limitColumns}, ${allowedColumns}, ${rightsColumns},
             (extract(epoch FROM ${end} - now()) * 1000)::float8 AS valid_ms
      FROM ${sessions} WHERE s.secret_hash = ${hash} AND ${isOpen}`);
    if (row === undefined) return null;
    const { id, accountId, apiKeyId, accountStatus, validMs } = row;
    if (apiKeyId === null) return { sessionId: id, caller: null, validMs };
    const scopes = new Set(scopesNow(row));
    const allowLists = allowListsOf(row.accountAllowed, row.keyAllowed ?? []);
    const memberId = row.memberId ?? undefined;
    const who = { accountId, apiKeyId, memberId, sessionId: id, accountStatus, scopes, labels: null };
    const caller = { ...who, limits: limitsOf(row), allowLists };
    return { sessionId: id, caller, validMs };
  }

  /** What a session says of itself; null when it has ended. */
  async find(tx: Statements, id: string): Promise<ConsoleSession | null> {
    const [row] = await tx.rows<SessionRow>(Prisma.sql`
      SELECT s.id, s.account_id, a.name AS account_name, k.id AS key_id, k.name AS key_name, ${rightsColumns}, m.email AS member_email, ${end} AS expires_at
      FROM ${sessions} WHERE s.id = ${id}::uuid AND ${isOpen}`);
    if (row === undefined) return null;
    const { keyId, keyName } = row;
    return {
      id: row.id,
      account: { id: row.accountId, name: row.accountName },
      key: keyId === null ? null : { id: keyId, name: keyName ?? '', scopes: scopesNow(row) },
      member: memberOf(row),
      expiresAt: row.expiresAt,
    };
  }

  /** Which of these sessions have ended, or belong to a suspended account: one statement however many. */
  async findEnded(tx: Statements, ids: readonly string[]): Promise<string[]> {
    const rows = await tx.rows<{ id: string }>(Prisma.sql`
      SELECT id FROM unnest(${ids}::uuid[]) AS asked (id)
      WHERE NOT EXISTS (SELECT 1 FROM ${sessions} WHERE s.id = asked.id AND a.status <> 'suspended' AND ${isOpen})`);
    return rows.map(({ id }) => id);
  }

  /** Newest first, `limit` at most. */
  async list(tx: Statements, of: SessionsOf, limit: number): Promise<ListedSession[]> {
    const rows = await tx.rows<ListedRow>(Prisma.sql`
      SELECT s.id, s.created_at, ${end} AS expires_at, k.id AS key_id, k.name AS key_name, k.is_session_key, k.member_id, m.email AS member_email
      FROM ${sessions} WHERE ${isOf(of)} AND ${isOpen} ORDER BY s.id DESC LIMIT ${limit}`);
    return rows.map(({ id, createdAt, expiresAt, keyId, keyName, isSessionKey, memberId, memberEmail }) => {
      const member = memberEmail === null ? null : { id: memberId ?? '', email: memberEmail };
      const key = keyId === null || isSessionKey === true ? null : { id: keyId, name: keyName ?? '' };
      return { id, createdAt, expiresAt, key, member };
    });
  }

  /** @returns false when there is no such session. */
  async delete(tx: Statements, of: SessionsOf, id: string): Promise<boolean> {
    return (await tx.execute(Prisma.sql`DELETE FROM console_sessions s WHERE ${isOf(of)} AND s.id = ${id}::uuid`)) > 0;
  }

  /** Delete sessions. @param except one that stays; null: none does. @returns how many. */
  async deleteOf(tx: Statements, of: SessionsOf, except: string | null): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM console_sessions s WHERE ${isOf(of)} AND (s.id <> ${except}::uuid) IS NOT FALSE`);
  }

  /**
   * Delete what an account has beyond these numbers of sessions: of one holder its oldest, of the account the oldest of the holder who has
   * most, so that nobody ends those of others by signing in again and again. Sessions without a key have no limit of a holder.
   *
   * @param most a holder is a member with all keys of theirs, or a key of the account.
   * @returns how many.
   */
  async keepNewest(tx: Statements, accountId: string, most: { ofAccount: number; ofHolder: number }): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM console_sessions WHERE account_id = ${accountId}::uuid AND id IN (
        SELECT id FROM (
          SELECT id, api_key_id, of_holder, row_number() OVER (ORDER BY of_holder, id DESC) AS of_account FROM (
            SELECT s.id, s.api_key_id,
                   row_number() OVER (PARTITION BY coalesce(k.member_id, s.api_key_id) ORDER BY s.id DESC) AS of_holder
            FROM console_sessions s LEFT JOIN api_keys k ON k.id = s.api_key_id WHERE s.account_id = ${accountId}::uuid
          ) AS held
        ) AS counted
        WHERE of_account > ${most.ofAccount}::int OR (api_key_id IS NOT NULL AND of_holder > ${most.ofHolder}::int))`);
  }

  /** Delete sessions that have expired, `batch` at most. @returns how many. */
  async deleteExpired(tx: Statements, batch: number): Promise<number> {
    return tx.execute(Prisma.sql`
      DELETE FROM console_sessions WHERE id IN (
        SELECT id FROM console_sessions WHERE expires_at < now() ORDER BY expires_at LIMIT ${batch})`);
  }
}

const isOf = ({ accountId, holder }: SessionsOf): Prisma.Sql =>
  holder === undefined
    ? Prisma.sql`s.account_id = ${accountId}::uuid`
    : Prisma.sql`s.account_id = ${accountId}::uuid AND ${isHeldBy(holder)}`;

const isHeldBy = (holder: SessionsHolder): Prisma.Sql =>
  'memberId' in holder
    ? Prisma.sql`s.api_key_id IN (SELECT id FROM api_keys WHERE member_id = ${holder.memberId}::uuid)`
    : Prisma.sql`s.api_key_id IS NOT DISTINCT FROM ${holder.apiKeyId}::uuid`;

function memberOf({
  memberId,
  memberEmail,
  memberRole,
}: Pick<SessionRow, 'memberId' | 'memberEmail' | 'memberRole'>): ConsoleSession['member'] {
  if (memberId === null || memberEmail === null || memberRole === null) return null;
  return { id: memberId, email: memberEmail, role: memberRole };
}
