import { Prisma, type ApiKey } from '@prisma/client';
import { SCOPES, newId, type AccountStatus, type Scope } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { ApiKeyRecord } from './api-key-record';
import type { Caller } from './caller';

interface CallerRow {
  key_id: string;
  account_id: string;
  scopes: Scope[];
  status: AccountStatus;
  weight: number;
  running_limit: number | null;
  queue_limit: number | null;
  requests_per_minute: number | null;
  stream_limit: number | null;
  upload_bytes_per_day: bigint | null;
  valid_ms: number | null;
}

/** Whoever presents a key, and how much longer the key works in milliseconds; null means for as long as anyone knows. */
export interface KeyHolder {
  caller: Caller;
  validMs: number | null;
}

const isLive = Prisma.sql`
  (k.expires_at IS NULL OR k.expires_at > now()) AND (k.revoked_at IS NULL OR k.revoked_at > now())`;

export interface ApiKeyDraft {
  accountId: string;
  name: string;
  hash: Buffer;
  lastFour: string;
  scopes: Scope[];
  expiresAt: Date | null;
}

/** The SQL of API keys. */
export class ApiKeyStore {
  async create(tx: Statements, { hash, ...draft }: ApiKeyDraft): Promise<ApiKeyRecord> {
    return recordOf(await tx.models.apiKey.create({ data: { ...draft, id: newId(), keyHash: new Uint8Array(hash) } }));
  }

  /** A key of the account, held against changes until the transaction ends. */
  async lock(tx: Statements, accountId: string, id: string): Promise<ApiKeyRecord | null> {
    await tx.query(
      Prisma.sql`SELECT 1 FROM api_keys WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid FOR UPDATE`,
    );
    const row = await tx.models.apiKey.findFirst({ where: { accountId, id } });
    return row && recordOf(row);
  }

  /** How many of the account's keys work now. */
  async countLive(tx: Statements, accountId: string): Promise<number> {
    const [row] = await tx.query<{ count: number }>(Prisma.sql`
      SELECT count(*)::int AS count FROM api_keys k WHERE k.account_id = ${accountId}::uuid AND ${isLive}`);
    return row?.count ?? 0;
  }

  /** Let `successor` take a key's place; the key itself ends after the overlap, if nothing ends it before. */
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
  }

  /** End a key now. @returns false when it had ended before. */
  async revoke(tx: Statements, accountId: string, id: string): Promise<boolean> {
    const count = await tx.execute(Prisma.sql`
      UPDATE api_keys SET revoked_at = now()
      WHERE account_id = ${accountId}::uuid AND id = ${id}::uuid AND (revoked_at IS NULL OR revoked_at > now())`);
    return count > 0;
  }

  /** Who presents a key of this hash; null when no such key is valid now. Hot: one indexed statement. */
  async findHolder(tx: Statements, hash: Buffer): Promise<KeyHolder | null> {
    const [row] = await tx.query<CallerRow>(Prisma.sql`
      SELECT k.id AS key_id, k.account_id, k.scopes, a.status, a.weight, a.running_limit, a.queue_limit,
             a.requests_per_minute, a.stream_limit, a.upload_bytes_per_day,
             (extract(epoch FROM least(k.expires_at, k.revoked_at) - now()) * 1000)::float8 AS valid_ms
      FROM api_keys k JOIN accounts a ON a.id = k.account_id
      WHERE k.key_hash = ${hash} AND ${isLive}`);
    return row === undefined ? null : { caller: callerOf(row), validMs: row.valid_ms };
  }

  async list(tx: Statements, accountId: string): Promise<ApiKeyRecord[]> {
    return (await tx.models.apiKey.findMany({ where: { accountId }, orderBy: { id: 'desc' } })).map(recordOf);
  }

  /** Keys that were used since last told. One statement however many. */
  async touch(tx: Statements, uses: ReadonlyMap<string, Date>): Promise<void> {
    const ids = [...uses.keys()];
    const times = [...uses.values()].map((time) => time.toISOString());
    await tx.execute(Prisma.sql`
      UPDATE api_keys k SET last_used_at = u.at
      FROM unnest(${ids}::uuid[], ${times}::timestamptz[]) AS u (id, at)
      WHERE k.id = u.id AND (k.last_used_at IS NULL OR k.last_used_at < u.at)`);
  }
}

function callerOf(row: CallerRow): Caller {
  return {
    accountId: row.account_id,
    apiKeyId: row.key_id,
    scopes: new Set(row.scopes),
    accountStatus: row.status,
    limits: {
      weight: row.weight,
      runningLimit: row.running_limit,
      queueLimit: row.queue_limit,
      requestsPerMinute: row.requests_per_minute,
      streamLimit: row.stream_limit,
      uploadBytesPerDay: row.upload_bytes_per_day === null ? null : Number(row.upload_bytes_per_day),
    },
  };
}

/** The hash stays here. */
function recordOf({ keyHash: _, scopes, ...row }: ApiKey): ApiKeyRecord {
  return { ...row, scopes: SCOPES.filter((scope) => scopes.includes(scope)) };
}
