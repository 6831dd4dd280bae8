import { Prisma, type ApiKey } from '@prisma/client';
import { newId, type AccountStatus, type Scope } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
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
}

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
  async create(tx: Statements, { hash, ...draft }: ApiKeyDraft): Promise<ApiKey> {
    return tx.models.apiKey.create({ data: { ...draft, id: newId(), keyHash: new Uint8Array(hash) } });
  }

  /** Who presents a key of this hash; null when no such key is valid now. Hot: one indexed statement. */
  async findCaller(tx: Statements, hash: Buffer): Promise<Caller | null> {
    const [row] = await tx.query<CallerRow>(Prisma.sql`
      SELECT k.id AS key_id, k.account_id, k.scopes, a.status, a.weight, a.running_limit, a.queue_limit,
             a.requests_per_minute, a.stream_limit, a.upload_bytes_per_day
      FROM api_keys k JOIN accounts a ON a.id = k.account_id
      WHERE k.key_hash = ${hash}
        AND (k.expires_at IS NULL OR k.expires_at > now())
        AND (k.revoked_at IS NULL OR k.revoked_at > now())`);
    if (row === undefined) return null;
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

  async list(tx: Statements, accountId: string): Promise<ApiKey[]> {
    return tx.models.apiKey.findMany({ where: { accountId }, orderBy: { id: 'desc' } });
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
