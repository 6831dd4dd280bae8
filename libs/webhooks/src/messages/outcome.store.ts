import { Prisma } from '@prisma/client';
import { composeStatement, statementPart, type StatementPart, type Statements } from '@millrace/database';
import type { SendResult } from '../receivers';
import type { DisabledReason } from '../endpoints';
import type { ClaimedMessage } from './claim.store';
import { FAILING_LIMIT_SECONDS } from './retry-schedule';

/** What follows from an attempt. */
export type Outcome =
  | { kind: 'delivered' }
  /** The next attempt comes after the pause; null: there is none. */
  | { kind: 'failed'; pauseSeconds: number | null; isGone: boolean }
  /** There is nothing to send any more, which says nothing of the endpoint. */
  | { kind: 'dropped' };

/** An endpoint that gets nothing any more, as of the attempt that it failed. */
export interface DisabledEndpoint {
  id: string;
  accountId: string;
  url: string;
  reason: Exclude<DisabledReason, 'by_owner'>;
  failingSince: Date;
}

/** What was recorded. */
export interface RecordedOutcome {
  /** The endpoint, where the attempt disabled it; null where it did not. */
  disabled: DisabledEndpoint | null;
}

type EndpointOutcome = Exclude<Outcome, { kind: 'dropped' }>;
type SentMessage = Pick<ClaimedMessage, 'id' | 'attempt' | 'url'>;

/**
 * Record what came of an attempt, with what follows from it for its message and its endpoint, and for the other endpoints of the account
 * where this one is disabled by it: one statement. An attempt says nothing of an endpoint that has another URL since.
 *
 * @returns null when another attempt has begun since, or the message was replayed: nothing is recorded then.
 */
export async function recordOutcome(
  statements: Statements,
  { id, attempt, url }: SentMessage,
  { status, error, durationMs, answer }: SendResult,
  outcome: Outcome,
): Promise<RecordedOutcome | null> {
  const pause = outcome.kind === 'failed' ? outcome.pauseSeconds : null;
  const state = outcome.kind === 'delivered' ? 'delivered' : pause === null ? 'failed' : 'pending';
  const message = statementPart<'id' | 'endpoint_id'>('message')`
    UPDATE webhook_messages m
    SET state = ${state}, tries = m.tries + 1, ended_at = CASE WHEN ${state} = 'pending' THEN NULL ELSE now() END,
        due_at = now() + make_interval(secs => ${pause ?? 0})
    WHERE m.id = ${id}::uuid AND m.attempt = ${attempt} AND m.state = 'pending'
    RETURNING m.id, m.endpoint_id`;
  const log = statementPart('log')`
    INSERT INTO webhook_attempts (message_id, attempt, status, error, duration_ms, answer)
    SELECT id, ${attempt}, ${status}::int, ${error}, ${durationMs}, ${answer} FROM ${message}`;
  const endpoint = outcome.kind === 'dropped' ? null : endpointPart(message, url, outcome);
  if (endpoint === null || outcome.kind === 'delivered') {
    const parts = endpoint === null ? [log] : [log, endpoint];
    const rows = await statements.rows(composeStatement(parts)`SELECT id FROM ${message}`);
    return rows.length === 0 ? null : { disabled: null };
  }
  const [row] = await statements.rows<{ disabled: boolean } & DisabledEndpoint>(
    composeStatement([log, noticesPart(endpoint, url)])`
      SELECT e.id IS NOT NULL AS disabled, e.id, e.account_id, e.url, e.disabled_reason AS reason, e.failing_since
      FROM ${message} message LEFT JOIN ${endpoint} e ON e.disabled_at IS NOT NULL AND e.deleted_at IS NULL`,
  );
  if (row === undefined) return null;
  const { disabled, ...found } = row;
  return { disabled: disabled ? found : null };
}

type EndpointColumn =
  'id' | 'account_id' | 'url' | 'description' | 'failing_since' | 'disabled_at' | 'disabled_reason' | 'deleted_at';
type ChangedEndpoint = StatementPart<EndpointColumn>;

/** Its row changes with the standing of an endpoint, not with each of its messages. */
function endpointPart(message: StatementPart<'endpoint_id'>, url: string, outcome: EndpointOutcome): ChangedEndpoint {
  return statementPart<EndpointColumn>('endpoint')`
    UPDATE webhook_endpoints e SET ${standing(outcome)} FROM ${message} message
    WHERE e.id = message.endpoint_id AND e.url = ${url} AND e.disabled_at IS NULL AND ${changesStanding(outcome)}
    RETURNING e.id, e.account_id, e.url, e.description, e.failing_since, e.disabled_at, e.disabled_reason, e.deleted_at`;
}

/**
 * Send the other endpoints of the account a notice of one that is disabled by this statement: it was not before. Of its URL they get the host: what
 * else is in it may be a secret of its receiver.
 */
function noticesPart(endpoint: ChangedEndpoint, url: string): StatementPart {
  return statementPart('notices')`
    INSERT INTO webhook_messages (endpoint_id, type, data)
    SELECT other.id, 'webhook.disabled', jsonb_build_object('id', e.id, 'host', ${new URL(url).host}::text,
      'description', e.description, 'reason', e.disabled_reason,
      'failing_since', to_char(e.failing_since AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    FROM ${endpoint} e
    JOIN webhook_endpoints other ON other.account_id = e.account_id AND other.id <> e.id AND other.deleted_at IS NULL
      AND 'webhook.disabled' = ANY (other.event_types)
    WHERE e.disabled_at IS NOT NULL AND e.deleted_at IS NULL`;
}

const failsTooLong = Prisma.sql`e.failing_since < now() - make_interval(secs => ${FAILING_LIMIT_SECONDS})`;
/**
 * Whether a message is being tried again, this one before the attempt or another: pauses are shorter than a day. Where all were given up or dropped
 * since the endpoint failed, nothing says that it failed all the time.
 */
const isTriedAgain = Prisma.sql`EXISTS (
  SELECT FROM webhook_messages again WHERE again.endpoint_id = e.id AND again.state = 'pending' AND again.tries > 0)`;

function standing(outcome: EndpointOutcome): Prisma.Sql {
  if (outcome.kind === 'delivered') return Prisma.sql`failing_since = NULL`;
  if (outcome.isGone)
    return Prisma.sql`failing_since = coalesce(e.failing_since, now()), disabled_at = now(), disabled_reason = 'gone'`;
  // Where it has not failed for too long, it has not failed before, or not all the time: it begins to fail now.
  return Prisma.sql`(failing_since, disabled_at, disabled_reason) = (
    SELECT CASE WHEN known.fails THEN e.failing_since ELSE now() END, CASE WHEN known.fails THEN now() END,
      CASE WHEN known.fails THEN 'failing' END
    FROM (SELECT ${failsTooLong} AND ${isTriedAgain} AS fails) known)`;
}

function changesStanding(outcome: EndpointOutcome): Prisma.Sql {
  if (outcome.kind === 'delivered') return Prisma.sql`e.failing_since IS NOT NULL`;
  return outcome.isGone ? Prisma.sql`true` : Prisma.sql`(e.failing_since IS NULL OR ${failsTooLong})`;
}
