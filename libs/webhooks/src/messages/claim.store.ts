import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** A message that this process may send now, until its lease ends. */
export interface ClaimedMessage {
  id: string;
  endpointId: string;
  accountId: string;
  url: string;
  /** Of links in the message. */
  origin: string;
  type: string;
  jobId: string | null;
  batchId: string | null;
  /** What is sent, where it is neither a job nor a batch. */
  data: object | null;
  createdAt: Date;
  /** Names the attempt: its result counts while no later one has begun. */
  attempt: number;
  /** Attempts since it was recorded or last replayed, this one included. */
  tries: number;
}

/** How much may be claimed. */
export interface ClaimRoom {
  /** Messages in all. */
  total: number;
  /** Messages of one endpoint. */
  perEndpoint: number;
  /** Endpoints that have room for fewer, those with none among them. */
  exceptions: ReadonlyMap<string, number>;
  /** Endpoints before it had their turn; null: all of them are to come. */
  after: string | null;
}

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

/**
 * Take messages that are due, some of each endpoint, endpoints in the order of their ids: however much one of them waits for,
 * the next has its turn. An endpoint that fails gets one attempt at a time.
 *
 * A claim moves the time at which a message is due behind the end of its lease. So no other process takes it meanwhile, and if
 * this one dies, the message is due again by itself.
 *
 * @param leaseSeconds longer than an attempt can take.
 */
export async function claimMessages(
  statements: Statements,
  room: ClaimRoom,
  leaseSeconds: number,
): Promise<ClaimedMessage[]> {
  return statements.rows(claimSql(room, leaseSeconds));
}

/** The statement of `claimMessages`, whose plan a test checks: it visits each endpoint that waits for anything once. */
export function claimSql({ total, perEndpoint, exceptions, after }: ClaimRoom, leaseSeconds: number): Prisma.Sql {
  return Prisma.sql`
    WITH RECURSIVE lane (endpoint_id) AS (
      (SELECT m.endpoint_id FROM webhook_messages m
       WHERE m.state = 'pending' AND m.endpoint_id > ${after ?? BEFORE_ALL}::uuid ORDER BY m.endpoint_id LIMIT 1)
      UNION ALL
      SELECT (SELECT m.endpoint_id FROM webhook_messages m
              WHERE m.state = 'pending' AND m.endpoint_id > lane.endpoint_id ORDER BY m.endpoint_id LIMIT 1)
      FROM lane WHERE lane.endpoint_id IS NOT NULL
    ), due AS MATERIALIZED (
      SELECT m.id, e.account_id, e.url, e.origin FROM lane
      JOIN webhook_endpoints e ON e.id = lane.endpoint_id AND e.disabled_at IS NULL AND e.deleted_at IS NULL
      LEFT JOIN unnest(${[...exceptions.keys()]}::uuid[], ${[...exceptions.values()]}::int[]) AS x (id, room) ON x.id = e.id
      CROSS JOIN LATERAL (
        SELECT m.id FROM webhook_messages m
        WHERE m.endpoint_id = lane.endpoint_id AND m.state = 'pending' AND m.due_at <= now()
        ORDER BY m.due_at, m.id
        LIMIT least(coalesce(x.room, ${perEndpoint}::int), CASE WHEN e.failing_since IS NULL THEN ${perEndpoint}::int ELSE 1 END)
        FOR UPDATE SKIP LOCKED
      ) m LIMIT ${total}
    )
    UPDATE webhook_messages m
    SET attempt = m.attempt + 1, tries = m.tries + 1, due_at = now() + make_interval(secs => ${leaseSeconds})
    FROM due WHERE m.id = due.id AND m.state = 'pending' AND m.due_at <= now()
    RETURNING m.id, m.endpoint_id, due.account_id, due.url, due.origin, m.type, m.job_id, m.batch_id, m.data,
      created_at_of(m.id) AS created_at, m.attempt, m.tries`;
}
