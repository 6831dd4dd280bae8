import { Prisma } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { EndpointChanges, EndpointDraft, WebhookEndpoint } from './webhook-endpoint';

/** Secrets that were replaced and still count. */
const FORMER_SECRETS = 3;

const columns = Prisma.sql`
  e.id, e.account_id, e.url, e.description, e.event_types, e.created_at, e.updated_at, e.failing_since, e.disabled_at,
  e.disabled_reason`;

const isOwn = (accountId: string, id: string): Prisma.Sql =>
  Prisma.sql`e.id = ${id}::uuid AND e.account_id = ${accountId}::uuid AND e.deleted_at IS NULL`;

/** The SQL of endpoints. Every method takes the account: the endpoint of another is not found. */
export class EndpointStore {
  /** How many endpoints the account has. Until the transaction ends, it gets no other. */
  async countLocked(tx: Statements, accountId: string): Promise<number> {
    await tx.rows(Prisma.sql`
      SELECT pg_advisory_xact_lock(hashtextextended(${`webhook endpoints of ${accountId}`}, 0))::text AS locked`);
    const [row] = await tx.rows<{ count: number }>(Prisma.sql`
      SELECT count(*)::int AS count FROM webhook_endpoints WHERE account_id = ${accountId}::uuid AND deleted_at IS NULL`);
    return row?.count ?? 0;
  }

  async create(
    tx: Statements,
    { id, accountId, url, description, eventTypes, origin }: EndpointDraft & { id: string; accountId: string },
  ): Promise<WebhookEndpoint> {
    const [row] = await tx.rows<WebhookEndpoint>(Prisma.sql`
      INSERT INTO webhook_endpoints AS e (id, account_id, url, description, event_types, origin)
      VALUES (${id}::uuid, ${accountId}::uuid, ${url}, ${description}, ${eventTypes}::text[], ${origin})
      RETURNING ${columns}`);
    return row as WebhookEndpoint;
  }

  /** Newest first. */
  async list(statements: Statements, accountId: string): Promise<WebhookEndpoint[]> {
    return statements.rows(Prisma.sql`
      SELECT ${columns} FROM webhook_endpoints e
      WHERE e.account_id = ${accountId}::uuid AND e.deleted_at IS NULL ORDER BY e.id DESC`);
  }

  async find(statements: Statements, accountId: string, id: string): Promise<WebhookEndpoint | null> {
    const [row] = await statements.rows<WebhookEndpoint>(Prisma.sql`
      SELECT ${columns} FROM webhook_endpoints e WHERE ${isOwn(accountId, id)}`);
    return row ?? null;
  }

  /** Until the transaction ends, it is not changed, nor deleted, and nobody else locks it. Messages are recorded for it meanwhile. */
  async findLocked(tx: Statements, accountId: string, id: string): Promise<WebhookEndpoint | null> {
    const [row] = await tx.rows<WebhookEndpoint>(Prisma.sql`
      SELECT ${columns} FROM webhook_endpoints e WHERE ${isOwn(accountId, id)} FOR NO KEY UPDATE`);
    return row ?? null;
  }

  /** An endpoint that is enabled again, or has another URL, is not failing any more. */
  async change(
    statements: Statements,
    accountId: string,
    id: string,
    { url = null, description = null, eventTypes = null, enabled = null, origin }: Nullable<EndpointChanges>,
  ): Promise<WebhookEndpoint | null> {
    const [row] = await statements.rows<WebhookEndpoint>(Prisma.sql`
      UPDATE webhook_endpoints e
      SET url = coalesce(${url}, e.url), description = coalesce(${description}, e.description),
          event_types = coalesce(${eventTypes}::text[], e.event_types), origin = ${origin}, updated_at = now(),
          disabled_at = CASE ${enabled}::boolean WHEN true THEN NULL WHEN false THEN coalesce(e.disabled_at, now()) ELSE e.disabled_at END,
          disabled_reason = CASE ${enabled}::boolean
            WHEN true THEN NULL WHEN false THEN coalesce(e.disabled_reason, 'by_owner') ELSE e.disabled_reason END,
          failing_since = CASE WHEN ${url} <> e.url OR (${enabled}::boolean AND e.disabled_at IS NOT NULL) THEN NULL ELSE e.failing_since END
      WHERE ${isOwn(accountId, id)} RETURNING ${columns}`);
    return row ?? null;
  }

  /** Nothing is recorded for it, nor sent, from then on; a loop deletes its messages, and then its row. */
  async delete(statements: Statements, accountId: string, id: string): Promise<WebhookEndpoint | null> {
    const [row] = await statements.rows<WebhookEndpoint>(Prisma.sql`
      UPDATE webhook_endpoints e SET deleted_at = now(), updated_at = now() WHERE ${isOwn(accountId, id)} RETURNING ${columns}`);
    return row ?? null;
  }

  /**
   * The secrets before go on counting for the overlap, the newest of them at most: a message carries a signature of each. The endpoint is locked: of
   * two that replace its secret, each would not see the other's.
   */
  async expireSecrets(tx: Statements, endpointId: string, overlapSeconds: number): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE webhook_secrets s
      SET expires_at = CASE WHEN newer.count >= ${FORMER_SECRETS} THEN now()
        ELSE least(s.expires_at, now() + make_interval(secs => ${overlapSeconds})) END
      FROM (SELECT id, row_number() OVER (ORDER BY id DESC) - 1 AS count FROM webhook_secrets WHERE endpoint_id = ${endpointId}::uuid) newer
      WHERE s.id = newer.id AND (s.expires_at IS NULL OR s.expires_at > now())`);
  }

  async addSecret(tx: Statements, endpointId: string, sealed: Buffer): Promise<void> {
    await tx.execute(Prisma.sql`
      INSERT INTO webhook_secrets (id, endpoint_id, sealed) VALUES (${newId()}::uuid, ${endpointId}::uuid, ${sealed})`);
  }
}

type Nullable<T> = { [K in keyof T]: undefined extends T[K] ? T[K] | null : T[K] };
