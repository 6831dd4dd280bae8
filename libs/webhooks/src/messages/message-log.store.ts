import { Prisma } from '@prisma/client';
import { byId, lookedAt, pageOfLookedAt, type LookedAtRow, type Statements } from '@millrace/database';

export const MESSAGE_STATES = ['pending', 'delivered', 'failed'] as const;
export type MessageState = (typeof MESSAGE_STATES)[number];

/** One attempt to send a message, as it is logged. */
export interface LoggedAttempt {
  attempt: number;
  at: Date;
  /** Null where no answer came; `error` says why. */
  status: number | null;
  error: string | null;
  durationMs: number;
  answer: string;
}

/** A message with its attempts, the first one first. */
export interface LoggedMessage {
  id: string;
  type: string;
  jobId: string | null;
  batchId: string | null;
  state: MessageState;
  createdAt: Date;
  endedAt: Date | null;
  /** When the next attempt is made, or the one under way has to have ended; null where there is none. */
  dueAt: Date | null;
  attempts: LoggedAttempt[];
}

type MessageRow = Omit<LoggedMessage, 'attempts'> & { attempts: (Omit<LoggedAttempt, 'at'> & { at: string })[] };

/** What a page of the log shows, and from where on. */
export interface MessagePage {
  /** Only older ones than this id; null for the first page. */
  before: string | null;
  limit: number;
  /** Null for any. */
  state: MessageState | null;
}

/** Which messages are sent again. */
export interface ReplayedSpan {
  /** The first id. */
  from: string;
  /** Only ids behind it; null: all of them. */
  after: string | null;
  /** The first id behind the span; null: all of them. */
  until: string | null;
  states: readonly MessageState[];
  /** Types of which none is sent. */
  without: readonly string[];
  limit: number;
}

/** What a replay of a span came to. */
export interface ReplayedMessages {
  replayed: number;
  lookedAt: number;
  /** The last that was looked at; null where there was none. */
  last: string | null;
}

/** Of one message; it has as many attempts as it was replayed, and these are the last. */
const ATTEMPTS_SHOWN = 20;

const columns = Prisma.sql`
  m.id, m.type, m.job_id, m.batch_id, m.state, created_at_of(m.id) AS created_at, m.ended_at, CASE WHEN m.state = 'pending' THEN m.due_at END AS due_at,
  coalesce((
    SELECT json_agg(json_build_object('attempt', a.attempt, 'at', a.at, 'status', a.status, 'error', a.error,
      'durationMs', a.duration_ms, 'answer', a.answer) ORDER BY a.attempt)
    FROM webhook_attempts a WHERE a.message_id = m.id AND a.attempt > m.attempt - ${ATTEMPTS_SHOWN}::int
  ), '[]'::json) AS attempts`;

/** The messages of one endpoint, for its owner. Who calls has made sure of the endpoint. */
export class MessageLogStore {
  /**
   * Newest first.
   *
   * @returns with them the id behind which the next page begins; null on the last.
   */
  async list(
    statements: Statements,
    endpointId: string,
    page: MessagePage,
  ): Promise<{ messages: LoggedMessage[]; last: string | null }> {
    const rows = await statements.rows<MessageRow & LookedAtRow>(this.listSql(endpointId, page));
    const { shown, last } = pageOfLookedAt(rows, page.limit);
    return { messages: shown.map(({ nth: _, isShown: __, ...row }) => messageOf(row)), last: last?.id ?? null };
  }

  /** The statement of `list`, whose plans a test checks. */
  listSql(endpointId: string, { before, limit, state }: MessagePage): Prisma.Sql {
    const owner = { column: 'endpoint_id', value: Prisma.sql`${endpointId}::uuid` };
    const shown = state === null ? [] : [Prisma.sql`m.state = ${state}`];
    const ids = byId('m', owner, { after: null, before });
    return Prisma.sql`
      SELECT ${columns}, m.nth, m.is_shown
      FROM (${lookedAt({ table: 'webhook_messages', alias: 'm', ...ids, shown, limit })}) m ORDER BY m.nth`;
  }

  async find(statements: Statements, endpointId: string, id: string): Promise<LoggedMessage | null> {
    const [row] = await statements.rows<MessageRow>(Prisma.sql`
      SELECT ${columns} FROM webhook_messages m WHERE m.endpoint_id = ${endpointId}::uuid AND m.id = ${id}::uuid`);
    return row === undefined ? null : messageOf(row);
  }

  /** Of these types those of which messages are pending. */
  async waiting(statements: Statements, endpointId: string, types: readonly string[]): Promise<string[]> {
    const rows = await statements.rows<{ type: string }>(Prisma.sql`
      SELECT DISTINCT m.type FROM webhook_messages m
      WHERE m.endpoint_id = ${endpointId}::uuid AND m.state = 'pending' AND m.type = ANY (${[...types]}::text[])`);
    return rows.map(({ type }) => type);
  }

  /** A message that no event made. @returns its id. */
  async createTest(statements: Statements, endpointId: string, type: string): Promise<string> {
    const [row] = await statements.rows<{ id: string }>(Prisma.sql`
      INSERT INTO webhook_messages (endpoint_id, type) VALUES (${endpointId}::uuid, ${type}) RETURNING id`);
    return (row as { id: string }).id;
  }

  /** Send a message again that was delivered or given up. One that is pending stays as it is: an attempt may be under way. */
  async replay(statements: Statements, endpointId: string, id: string): Promise<void> {
    await statements.execute(Prisma.sql`
      UPDATE webhook_messages m SET ${again}
      WHERE m.endpoint_id = ${endpointId}::uuid AND m.id = ${id}::uuid AND m.state <> 'pending'`);
  }

  /**
   * Send messages of a span again: of the oldest as many as `limit` are looked at. One that another replay has sent again meanwhile is looked at,
   * and not replayed.
   */
  async replaySpan(
    statements: Statements,
    endpointId: string,
    { from, after, until, states, without, limit }: ReplayedSpan,
  ): Promise<ReplayedMessages> {
    // Locked in their order: two replays that have messages in common wait for each other, and do not deadlock.
    const [row] = await statements.rows<ReplayedMessages>(Prisma.sql`
      WITH looked_at AS MATERIALIZED (
        SELECT s.id FROM webhook_messages s
        WHERE s.endpoint_id = ${endpointId}::uuid AND s.id >= ${from}::uuid AND (${after}::uuid IS NULL OR s.id > ${after}::uuid)
          AND (${until}::uuid IS NULL OR s.id < ${until}::uuid) AND s.state = ANY (${states}::text[])
          AND s.type <> ALL (${[...without]}::text[])
        ORDER BY s.id LIMIT ${limit}
      ), ended AS MATERIALIZED (
        SELECT m.id FROM webhook_messages m JOIN looked_at ON looked_at.id = m.id
        WHERE m.state <> 'pending' ORDER BY m.id FOR UPDATE OF m
      ), replayed AS (
        UPDATE webhook_messages m SET ${again} FROM ended WHERE m.id = ended.id RETURNING m.id
      )
      SELECT (SELECT count(*) FROM replayed)::int AS replayed, (SELECT count(*) FROM looked_at)::int AS looked_at,
        (SELECT id FROM looked_at ORDER BY id DESC LIMIT 1) AS last`);
    return row ?? { replayed: 0, lookedAt: 0, last: null };
  }
}

/** Its attempts go on being counted: the number of an attempt is its fence. */
const again = Prisma.sql`state = 'pending', tries = 0, due_at = DEFAULT, ended_at = NULL`;

function messageOf({ attempts, ...row }: MessageRow): LoggedMessage {
  return { ...row, attempts: attempts.map((made) => ({ ...made, at: new Date(made.at) })) };
}
