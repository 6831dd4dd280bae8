import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import type { ExportDelivery, LoggedAttempt } from './delivery';

type DeliveryRow = Omit<ExportDelivery, 'attempts'> & { attempts: (Omit<LoggedAttempt, 'at'> & { at: string })[] };

/** Of one delivery; these are the last. */
const ATTEMPTS_SHOWN = 20;

const columns = Prisma.sql`
  v.id, to_char(v.day, 'YYYY-MM-DD') AS day, v.state, v.created_at, CASE WHEN v.state = 'pending' THEN v.due_at END AS due_at, v.ended_at,
  v.location, v.usage_rows, v.usage_micros, v.ledger_rows, v.ledger_micros,
  coalesce((
    SELECT json_agg(json_build_object('attempt', a.attempt, 'at', a.at, 'error', a.error, 'durationMs', a.duration_ms) ORDER BY a.attempt)
    FROM export_attempts a WHERE a.delivery_id = v.id AND a.attempt > v.attempt - ${ATTEMPTS_SHOWN}::int
  ), '[]'::json) AS attempts`;

/** What was written for an account and what waits, for its owner. */
export class DeliveryStore {
  /** Newest first, one more than `limit` where there is one. @param before only older ones than this id. */
  async list(
    statements: Statements,
    accountId: string,
    { before, limit }: { before: string | null; limit: number },
  ): Promise<ExportDelivery[]> {
    const rows = await statements.rows<DeliveryRow>(Prisma.sql`
      SELECT ${columns} FROM export_deliveries v
      WHERE v.account_id = ${accountId}::uuid AND (${before}::uuid IS NULL OR v.id < ${before}::uuid)
      ORDER BY v.id DESC LIMIT ${limit + 1}`);
    return rows.map(deliveryOf);
  }

  async find(statements: Statements, accountId: string, id: string): Promise<ExportDelivery | null> {
    const [row] = await statements.rows<DeliveryRow>(Prisma.sql`
      SELECT ${columns} FROM export_deliveries v WHERE v.account_id = ${accountId}::uuid AND v.id = ${id}::uuid`);
    return row === undefined ? null : deliveryOf(row);
  }

  /** Have a test written; one that waits already is the same. @returns its id; null where the account has no destination. */
  async createTest(statements: Statements, accountId: string): Promise<string | null> {
    const [row] = await statements.rows<{ id: string }>(Prisma.sql`
      INSERT INTO export_deliveries AS v (account_id)
      SELECT d.account_id FROM export_destinations d WHERE d.account_id = ${accountId}::uuid
      ON CONFLICT (account_id) WHERE day IS NULL AND state = 'pending' DO UPDATE SET due_at = v.due_at RETURNING v.id`);
    return row?.id ?? null;
  }

  /**
   * Have a day written, also one that was: its files are written again, over those of the same name. The attempt that may be under way
   * does not count any more.
   *
   * @returns its id; null where the account has no destination.
   */
  async requestDay(statements: Statements, accountId: string, day: string): Promise<string | null> {
    const [row] = await statements.rows<{ id: string }>(Prisma.sql`
      INSERT INTO export_deliveries AS v (account_id, day)
      SELECT d.account_id, ${day}::date FROM export_destinations d WHERE d.account_id = ${accountId}::uuid
      ON CONFLICT (account_id, day) DO UPDATE
      SET state = 'pending', attempt = v.attempt + 1, tries = 0, due_at = DEFAULT, ended_at = NULL RETURNING v.id`);
    return row?.id ?? null;
  }

  /** Deliveries past their time, and tests: a bounded batch. @returns how many. */
  async deleteOld(statements: Statements, keptDays: number, testDays: number, batch: number): Promise<number> {
    return statements.execute(Prisma.sql`
      DELETE FROM export_deliveries WHERE id IN (
        SELECT id FROM export_deliveries
        WHERE state <> 'pending' AND created_at < now() - make_interval(days => CASE WHEN day IS NULL THEN ${testDays}::int ELSE ${keptDays}::int END)
        LIMIT ${batch})`);
  }
}

function deliveryOf({ attempts, ...row }: DeliveryRow): ExportDelivery {
  return { ...row, attempts: attempts.map((made) => ({ ...made, at: new Date(made.at) })) };
}
