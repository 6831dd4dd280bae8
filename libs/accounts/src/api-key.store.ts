import { Prisma, type ApiKey } from '@prisma/client';
import { ACCOUNT_LIMITS, SCOPES, newId, type JobMetadata, type Scope } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import { allowListsOf } from './address-lists';
import { limitsOf, type AccountLimits } from './account-limits';
import type { ApiKeyRecord } from './api-key-record';
import type { Caller } from './caller';
import { scopesOf, storedScopes } from './key-labels';
import type { KeyExpiry } from './key-parent';
import { scopesNow, type StoredRights } from './key-scopes';

/** Who presents a key, and how much longer the key works in milliseconds; null means that its end is not known. */
export interface KeyHolder {
  caller: Caller;
  validMs: number | null;
}

/** A key that works no more, and whose it was. */
export type EndedKey = Pick<ApiKeyRecord, 'id' | 'accountId'>;

type HolderRow = Pick<Caller, 'accountId' | 'accountStatus'> &
  Pick<KeyHolder, 'validMs'> &
  AccountLimits &
  AllowedRow &
  MemberRow &
  StoredRights & { apiKeyId: string };

/** The networks that the account `a` and the key `k` allow. */
export interface AllowedRow {
  accountAllowed: string[];
  keyAllowed: string[] | null;
}
export const allowedColumns = Prisma.sql`a.allowed_addresses AS account_allowed, k.allowed_addresses AS key_allowed`;
/** Whose the key `k` is; null for a key of the account itself. */
export interface MemberRow {
  memberId: string | null;
}
/** What decides what the key `k` of the member `m` may do, and whose it is. */
export const rightsColumns = Prisma.sql`k.scopes, k.labels, k.is_session_key, k.member_id, m.role AS member_role`;
/** The limits of the account `a`, as columns. */
export const limitColumns = Prisma.raw(ACCOUNT_LIMITS.map(({ field }) => `a.${field}`).join(', '));
/** When the key `k` ends. As the index `api_keys_live_idx` has it. */
const endsAt = Prisma.sql`coalesce(least(k.expires_at, k.revoked_at), 'infinity'::timestamptz)`;
/** When the key `k` was to end without a maximum age of its account; null: never. */
export const askedEnd = Prisma.sql`CASE WHEN k.expires_by_age THEN k.asked_expires_at ELSE k.expires_at END`;
/** Whether the key `k` works now. */
export const isLive = Prisma.sql`${endsAt} > now()`;
/** The key `k` is a sub-key of the account, or one of its other keys, but none of a session. As that index has it. */
const isOfKind = (accountId: string, { subKeys }: { subKeys: boolean }): Prisma.Sql =>
  Prisma.sql`k.account_id = ${accountId}::uuid AND (k.labels IS NOT NULL)::int = ${subKeys ? 1 : 0}::int AND NOT k.is_session_key`;
/** Of how many sub-keys that ended those with some labels are looked for, as a multiple of how many are listed. */
const LOOKED_AT = 10;

export interface ApiKeyDraft extends KeyExpiry {
  accountId: string;
  name: string;
  hash: Buffer;
  lastFour: string;
  scopes: Scope[];
  labels: JobMetadata | null;
  allowedAddresses: string[];
  parentId: string | null;
  memberId: string | null;
  /** The keys for which its jobs count beside itself: see `spend_keys` of the table. */
  spendsFor: readonly string[];
}

/** The SQL of API keys. */
export class ApiKeyStore {
  async create(tx: Statements, { hash, labels, spendsFor, ...draft }: ApiKeyDraft): Promise<ApiKeyRecord> {
    const scopes = storedScopes(draft.scopes, labels);
    const id = newId();
    const stored = { id, keyHash: new Uint8Array(hash), spendKeys: [id, ...spendsFor] };
    const data = { ...draft, ...stored, scopes, labels: labels ?? Prisma.DbNull };
    return recordOf(await tx.models.apiKey.create({ data }));
  }

  /** The key as which the sessions of a member act: without a scope of its own, and nobody has it. @returns its id. */
  async createSessionKey(
    tx: Statements,
    { hash, ...key }: Pick<ApiKeyDraft, 'accountId' | 'name' | 'hash' | 'lastFour'> & { memberId: string },
  ): Promise<string> {
    const data = { ...key, scopes: [], isSessionKey: true, id: newId(), keyHash: new Uint8Array(hash) };
    return (await tx.models.apiKey.create({ data })).id;
  }

  /** The age at which keys of the account end, in seconds; null: at none. */
  async maxAgeSeconds(tx: Statements, accountId: string): Promise<number | null> {
    const [row] = await tx.rows<{ seconds: number | null }>(Prisma.sql`
      SELECT key_max_age_seconds AS seconds FROM accounts WHERE id = ${accountId}::uuid`);
    return row?.seconds ?? null;
  }

  /** A key of the account, held against changes until the transaction ends. */
  async lock(tx: Statements, accountId: string, id: string): Promise<ApiKeyRecord | null> {
    await tx.execute(
      Prisma.sql`SELECT 1 FROM api_keys WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid FOR UPDATE`,
    );
    const row = await tx.models.apiKey.findFirst({ where: { accountId, id } });
    return row && recordOf(row);
  }

  /** What a key of the account may do now, held against changes until the transaction ends. @returns null when it works no more. */
  async lockRights(tx: Statements, accountId: string, id: string): Promise<ReadonlySet<Scope> | null> {
    const [row] = await tx.rows<StoredRights>(Prisma.sql`
      SELECT ${rightsColumns} FROM api_keys k LEFT JOIN members m ON m.id = k.member_id
      WHERE k.account_id = ${accountId}::uuid AND k.id = ${id}::uuid AND ${isLive} FOR UPDATE OF k`);
    return row === undefined ? null : new Set(scopesNow(row));
  }

  /**
   * How many of the account's keys work now: of its sub-keys, or of all others. Reads those alone, and not those that ended, of which there may be
   * any number (index `api_keys_live_idx`).
   *
   * @param most counted at most.
   */
  async countLive(tx: Statements, accountId: string, kind: { subKeys: boolean }, most: number): Promise<number> {
    const [row] = await tx.rows<{ count: number }>(Prisma.sql`
      SELECT count(*)::int AS count FROM (
        SELECT FROM api_keys k
        WHERE ${isOfKind(accountId, kind)} AND ${isLive}
        LIMIT ${most}) AS live`);
    return row?.count ?? 0;
  }

  /**
   * Record `successor` as the key's replacement; the key itself ends after the overlap, if it is not revoked before. The keys
   * that it made go on with the successor, which counts as the key did by caps (trigger `api_keys_rotation_trigger`).
   */
  async supersede(
    tx: Statements,
    accountId: string,
    id: string,
    successor: string,
    overlapSeconds: number,
  ): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE api_keys SET rotated_to = ${successor}::uuid, revoked_at = now() + make_interval(secs => ${overlapSeconds})
      WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid`);
    await tx.execute(Prisma.sql`
      UPDATE api_keys SET parent_id = ${successor}::uuid
      WHERE account_id = ${accountId}::uuid AND parent_id = ${id}::uuid AND id <> ${successor}::uuid`);
  }

  /**
   * End a key now, and all keys that it made, and that those made.
   *
   * @returns the ids of those that had not ended before.
   */
  async revoke(tx: Statements, accountId: string, id: string): Promise<string[]> {
    const rows = await tx.rows<{ id: string }>(Prisma.sql`
      WITH RECURSIVE family (id) AS (
        SELECT ${id}::uuid
        UNION
        SELECT child.id FROM api_keys child JOIN family ON child.parent_id = family.id
      )
      UPDATE api_keys SET revoked_at = now()
      WHERE account_id = ${accountId}::uuid AND id IN (SELECT id FROM family) AND (revoked_at IS NULL OR revoked_at > now())
      RETURNING id`);
    return rows.map((row) => row.id);
  }

  /** A key of the account and the keys that replaced it, one after the other, the latest last; whether each works now. */
  async line(tx: Statements, accountId: string, id: string): Promise<{ id: string; works: boolean }[]> {
    return tx.rows(Prisma.sql`
      WITH RECURSIVE line (id, rotated_to, place) AS (
        SELECT id, rotated_to, 1 FROM api_keys WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid
        UNION ALL
        SELECT next.id, next.rotated_to, line.place + 1 FROM api_keys next JOIN line ON next.id = line.rotated_to
      )
      SELECT k.id, ${isLive} AS works FROM line JOIN api_keys k ON k.id = line.id ORDER BY line.place`);
  }

  /** Whether one of the keys that a key made, and that works now, ends after a time, if not by its age. */
  async madeOneThatEndsAfter(tx: Statements, accountId: string, id: string, end: Date): Promise<boolean> {
    const rows = await tx.rows(Prisma.sql`
      SELECT 1 FROM api_keys k WHERE k.account_id = ${accountId}::uuid AND k.parent_id = ${id}::uuid AND ${isLive}
        AND coalesce(least(${askedEnd}, k.revoked_at), 'infinity') > ${end}::timestamptz LIMIT 1`);
    return rows.length > 0;
  }

  /** Whether `ancestor` made a key, or made one that made it, and so on. */
  async descendsFrom(tx: Statements, accountId: string, id: string, ancestor: string): Promise<boolean> {
    const rows = await tx.rows(Prisma.sql`
      WITH RECURSIVE line (id) AS (
        SELECT parent_id FROM api_keys WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid
        UNION
        SELECT k.parent_id FROM api_keys k JOIN line ON k.id = line.id
      )
      SELECT 1 FROM line WHERE id = ${ancestor}::uuid`);
    return rows.length > 0;
  }

  /**
   * Who presents keys of these hashes. Hot: one statement however many.
   *
   * @returns in the order of `hashes`; null where no such key is valid now.
   */
  async findHolders(tx: Statements, hashes: readonly Buffer[]): Promise<(KeyHolder | null)[]> {
    const rows = await tx.rows<HolderRow & { at: number }>(Prisma.sql`
      SELECT asked.at::int, k.id AS api_key_id, k.account_id, a.status AS account_status, a.weight, ${limitColumns}, ${allowedColumns}, ${rightsColumns},
             (extract(epoch FROM least(k.expires_at, k.revoked_at) - now()) * 1000)::float8 AS valid_ms
      FROM unnest((SELECT ${[...hashes]}::bytea[])) WITH ORDINALITY AS asked (hash, at)
      JOIN api_keys k ON k.key_hash = asked.hash JOIN accounts a ON a.id = k.account_id LEFT JOIN members m ON m.id = k.member_id
      WHERE ${isLive}`);
    const found = new Map(rows.map((row) => [row.at, holderOf(row)]));
    return hashes.map((_, index) => found.get(index + 1) ?? null);
  }

  /** Whose key of this hash has ended; null when nobody ever had one, or it is valid. */
  async findEndedKey(tx: Statements, hash: Buffer): Promise<EndedKey | null> {
    const [row] = await tx.rows<EndedKey>(Prisma.sql`
      SELECT k.id, k.account_id FROM api_keys k WHERE k.key_hash = ${hash} AND NOT (${isLive})`);
    return row ?? null;
  }

  /** What these keys may do now, without those that are not valid or belong to a suspended account: one statement however many. */
  async rightsOf(tx: Statements, ids: readonly string[]): Promise<Map<string, ReadonlySet<Scope>>> {
    const rows = await tx.rows<StoredRights & { id: string }>(Prisma.sql`
      SELECT k.id, ${rightsColumns}
      FROM api_keys k JOIN accounts a ON a.id = k.account_id LEFT JOIN members m ON m.id = k.member_id
      WHERE k.id = ANY(${[...ids]}::uuid[]) AND a.status <> 'suspended' AND ${isLive}`);
    return new Map(rows.map((row) => [row.id, new Set(scopesNow(row))]));
  }

  /**
   * Newest first. Reads the keys that work now, and of those that ended, of which there may be any number, the latest alone (index
   * `api_keys_live_idx`).
   *
   * @param labels of which a key must have all; a key without labels has none of any. Of sub-keys that ended, they are looked for in the latest
   * ten times `limit`.
   * @param limit of the sub-keys that work now, and of all keys that do not, how many each: the latest to be made, and the last to end.
   */
  async list(tx: Statements, accountId: string, labels: JobMetadata, limit: number): Promise<ApiKeyRecord[]> {
    const isAny = Object.keys(labels).length === 0;
    const [isKey, isSubKey] = [isOfKind(accountId, { subKeys: false }), isOfKind(accountId, { subKeys: true })];
    const hasLabels = Prisma.sql`k.labels @> ${JSON.stringify(labels)}::jsonb`;
    const shown = await tx.rows<{ id: string }>(Prisma.sql`
      (SELECT k.id FROM api_keys k WHERE ${isKey} AND ${isAny}::boolean AND ${isLive})
      UNION ALL
      (SELECT k.id FROM api_keys k WHERE ${isSubKey} AND ${hasLabels} AND ${isLive} ORDER BY k.id DESC LIMIT ${limit})
      UNION ALL
      (SELECT ended.id FROM (
        (SELECT k.id, ${endsAt} AS ended_at FROM api_keys k WHERE ${isKey} AND ${isAny}::boolean AND ${endsAt} <= now()
         ORDER BY ${endsAt} DESC LIMIT ${limit})
        UNION ALL
        (SELECT k.id, k.ended_at FROM (
          SELECT k.id, k.labels, ${endsAt} AS ended_at FROM api_keys k WHERE ${isSubKey} AND ${endsAt} <= now()
          ORDER BY ${endsAt} DESC LIMIT ${limit}::int * ${LOOKED_AT}::int) k
         WHERE ${hasLabels} ORDER BY k.ended_at DESC LIMIT ${limit})
       ) ended ORDER BY ended.ended_at DESC LIMIT ${limit})`);
    const where = { id: { in: shown.map(({ id }) => id) } };
    return (await tx.models.apiKey.findMany({ where, orderBy: { id: 'desc' } })).map(recordOf);
  }

  /** Record when keys were last used: one statement however many. */
  async touch(tx: Statements, uses: ReadonlyMap<string, Date>): Promise<void> {
    const ids = [...uses.keys()];
    const times = [...uses.values()].map((time) => time.toISOString());
    await tx.execute(Prisma.sql`
      UPDATE api_keys k SET last_used_at = u.at
      FROM unnest(${ids}::uuid[], ${times}::timestamptz[]) AS u (id, at)
      WHERE k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.at)`);
  }
}

/** The hash stays here. */
function recordOf({ keyHash: _, scopes, ...row }: ApiKey): ApiKeyRecord {
  const labels = row.labels as JobMetadata | null;
  const spendKeys = row.spendKeys.length > 0 ? row.spendKeys : [row.id];
  return { ...row, labels, spendKeys, scopes: scopesOf(SCOPES, scopes, labels) };
}

function holderOf(row: HolderRow): KeyHolder {
  const { accountAllowed, accountId, accountStatus, apiKeyId, keyAllowed, labels, memberId, validMs } = row;
  const scopes = new Set(scopesNow(row));
  const allowLists = allowListsOf(accountAllowed, keyAllowed ?? []);
  const caller = { apiKeyId, accountId, accountStatus, scopes, labels, limits: limitsOf(row), allowLists };
  return { caller: { ...caller, memberId: memberId ?? undefined }, validMs };
}
