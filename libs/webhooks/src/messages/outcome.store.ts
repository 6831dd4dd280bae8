import { Prisma } from '@prisma/client';
import { composeStatement, statementPart, type StatementPart, type Statements } from '@millrace/database';
import type { SendResult } from '../receivers';
import type { ClaimedMessage } from './claim.store';
import { FAILING_LIMIT_SECONDS } from './retry-schedule';

/** What follows from an attempt. */
export type Outcome =
  | { kind: 'delivered' }
  /** The next attempt comes after the pause; null: there is none. */
  | { kind: 'failed'; pauseSeconds: number | null; isGone: boolean }
  /** There is nothing to send any more, which says nothing of the endpoint. */
  | { kind: 'dropped' };

type EndpointOutcome = Exclude<Outcome, { kind: 'dropped' }>;
type SentMessage = Pick<ClaimedMessage, 'id' | 'attempt'>;

/**
 * Record what came of an attempt, with what follows from it for its message and its endpoint: one statement.
 *
 * @returns false when another attempt has begun since, or the message was replayed: nothing is recorded then.
 */
export async function recordOutcome(
  statements: Statements,
  { id, attempt }: SentMessage,
  { status, error, durationMs, answer }: SendResult,
  outcome: Outcome,
): Promise<boolean> {
  const pause = outcome.kind === 'failed' ? outcome.pauseSeconds : null;
  const state = outcome.kind === 'delivered' ? 'delivered' : pause === null ? 'failed' : 'pending';
  const message = statementPart<'id' | 'endpoint_id'>('message')`
    UPDATE webhook_messages m
    SET state = ${state}, ended_at = CASE WHEN ${state} = 'pending' THEN NULL ELSE now() END,
        due_at = now() + make_interval(secs => ${pause ?? 0})
    WHERE m.id = ${id}::uuid AND m.attempt = ${attempt} AND m.state = 'pending'
    RETURNING m.id, m.endpoint_id`;
  const log = statementPart('log')`
    INSERT INTO webhook_attempts (message_id, attempt, status, error, duration_ms, answer)
    SELECT id, ${attempt}, ${status}::int, ${error}, ${durationMs}, ${answer} FROM ${message}`;
  const parts = outcome.kind === 'dropped' ? [log] : [log, endpointPart(message, outcome)];
  const rows = await statements.rows(composeStatement(parts)`SELECT id FROM ${message}`);
  return rows.length > 0;
}

/** Its row changes with the standing of an endpoint, not with each of its messages. */
function endpointPart(message: StatementPart<'endpoint_id'>, outcome: EndpointOutcome): StatementPart {
  return statementPart('endpoint')`
    UPDATE webhook_endpoints e SET ${standing(outcome)} FROM ${message} message
    WHERE e.id = message.endpoint_id AND e.disabled_at IS NULL AND ${changesStanding(outcome)}`;
}

const failsTooLong = Prisma.sql`e.failing_since < now() - make_interval(secs => ${FAILING_LIMIT_SECONDS})`;

function standing(outcome: EndpointOutcome): Prisma.Sql {
  if (outcome.kind === 'delivered') return Prisma.sql`failing_since = NULL`;
  const failing = Prisma.sql`failing_since = coalesce(e.failing_since, now())`;
  if (outcome.isGone) return Prisma.sql`${failing}, disabled_at = now(), disabled_reason = 'gone'`;
  return Prisma.sql`${failing}, disabled_at = CASE WHEN ${failsTooLong} THEN now() END,
    disabled_reason = CASE WHEN ${failsTooLong} THEN 'failing' END`;
}

function changesStanding(outcome: EndpointOutcome): Prisma.Sql {
  if (outcome.kind === 'delivered') return Prisma.sql`e.failing_since IS NOT NULL`;
  return outcome.isGone ? Prisma.sql`true` : Prisma.sql`(e.failing_since IS NULL OR ${failsTooLong})`;
}
