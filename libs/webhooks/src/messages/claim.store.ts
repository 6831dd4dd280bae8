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
  /** What is sent, where it is neither a job nor a batch; of a batch `{retries}`, which names the end that it is about. */
  data: object | null;
  createdAt: Date;
  /** Names the attempt: its result counts while no later one has begun. */
  attempt: number;
  /** Attempts since it was recorded or last replayed that came to a result, and this one: it counts once its result is recorded. */
  tries: number;
}

/** Endpoints that are slow have places of their own, so that they delay no others. */
export type Lane = 'quick' | 'slow';

/** How much may be claimed. */
export interface ClaimRoom {
  lane: Lane;
  /** Messages in all. */
  total: number;
  /** Messages of one endpoint. */
  perEndpoint: number;
  /** Messages of all endpoints of one account. */
  perAccount: number;
  /** Endpoints of the slow lane. */
  slow: readonly string[];
  /** Endpoints that have room for fewer, those with none among them. */
  endpoints: ReadonlyMap<string, number>;
  /** Accounts that have room for fewer. */
  accounts: ReadonlyMap<string, number>;
  /** Endpoints before it had their turn; null: all of them are to come. */
  after: string | null;
}

const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';
/** Messages that are looked at for each that may be claimed: an account may have more that are due than it has room for. */
const LOOKED_AT = 4;

/**
 * Take messages that are due, some of each endpoint and account, endpoints in the order of their ids: however much one of them waits for,
 * the next has its turn. Of an account the oldest go first. An endpoint that fails gets one attempt at
 * a time: none where this process has one under way.
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
export function claimSql(room: ClaimRoom, leaseSeconds: number): Prisma.Sql {
  const { lane, total, perEndpoint, perAccount, slow, endpoints, accounts, after } = room;
  return Prisma.sql`
    WITH RECURSIVE lane (endpoint_id) AS (
      (SELECT m.endpoint_id FROM webhook_messages m
       WHERE m.state = 'pending' AND m.endpoint_id > ${after ?? BEFORE_ALL}::uuid ORDER BY m.endpoint_id LIMIT 1)
      UNION ALL
      SELECT (SELECT m.endpoint_id FROM webhook_messages m
              WHERE m.state = 'pending' AND m.endpoint_id > lane.endpoint_id ORDER BY m.endpoint_id LIMIT 1)
      FROM lane WHERE lane.endpoint_id IS NOT NULL
    ), waiting AS MATERIALIZED (
      SELECT m.id, m.due_at, e.id AS endpoint_id, e.account_id, e.url, e.origin, coalesce(a.room, ${perAccount}::int) AS room FROM lane
      JOIN webhook_endpoints e ON e.id = lane.endpoint_id AND e.disabled_at IS NULL AND e.deleted_at IS NULL
        AND (e.id = ANY (${[...slow]}::uuid[])) = ${lane === 'slow'}::boolean
      LEFT JOIN unnest(${[...endpoints.keys()]}::uuid[], ${[...endpoints.values()]}::int[]) AS x (id, room) ON x.id = e.id
      LEFT JOIN unnest(${[...accounts.keys()]}::uuid[], ${[...accounts.values()]}::int[]) AS a (id, room) ON a.id = e.account_id
      CROSS JOIN LATERAL (
        SELECT m.id, m.due_at FROM webhook_messages m
        WHERE m.endpoint_id = lane.endpoint_id AND m.state = 'pending' AND m.due_at <= now()
        ORDER BY m.due_at, m.id
        LIMIT least(coalesce(x.room, ${perEndpoint}::int), coalesce(a.room, ${perAccount}::int),
          CASE WHEN e.failing_since IS NULL THEN ${perEndpoint}::int
            ELSE greatest(0, 1 - ${perEndpoint}::int + coalesce(x.room, ${perEndpoint}::int)) END)
        FOR UPDATE SKIP LOCKED
      ) m LIMIT ${LOOKED_AT * total}::int
    ), due AS MATERIALIZED (
      SELECT r.id, r.account_id, r.url, r.origin FROM (
        SELECT w.*, row_number() OVER (PARTITION BY w.account_id ORDER BY w.due_at, w.id) AS place FROM waiting w
      ) r WHERE r.place <= r.room ORDER BY r.endpoint_id LIMIT ${total}::int
    )
    UPDATE webhook_messages m
    SET attempt = m.attempt + 1, due_at = now() + make_interval(secs => ${leaseSeconds})
    FROM due WHERE m.id = due.id AND m.state = 'pending' AND m.due_at <= now()
    RETURNING m.id, m.endpoint_id, due.account_id, due.url, due.origin, m.type, m.job_id, m.batch_id, m.data,
      created_at_of(m.id) AS created_at, m.attempt, m.tries + 1 AS tries`;
}

/**
 * Give up claims that came to nothing: their messages are due again after the pause. One that another process has claimed since stays as it is.
 */
export async function handBackMessages(
  statements: Statements,
  messages: readonly Pick<ClaimedMessage, 'id' | 'attempt'>[],
  pauseSeconds: number,
): Promise<void> {
  await statements.execute(Prisma.sql`
    UPDATE webhook_messages m SET due_at = now() + make_interval(secs => ${pauseSeconds})
    FROM unnest(${messages.map(({ id }) => id)}::uuid[], ${messages.map(({ attempt }) => attempt)}::int[]) AS claim (id, attempt)
    WHERE m.id = claim.id AND m.attempt = claim.attempt AND m.state = 'pending'`);
}
