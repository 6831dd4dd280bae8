import { Prisma } from '@prisma/client';
import type { Loop, Metrics } from '@millrace/platform';
import type { Statements } from './database';

/**
 * Shows how long the oldest transaction of the database has been open: PostgreSQL keeps every version of every row since, and what
 * looks for a row that each job changes reads all of them. One that was prepared and forgotten counts, too; a vacuum, for which PostgreSQL
 * keeps nothing, does not.
 *
 * Of other users' transactions only those are seen that the user may see: all with `pg_read_all_stats`.
 */
export class MeasureTransactionsLoop implements Loop {
  readonly name = 'measure-transactions';
  readonly everyMs = 15_000;
  readonly everywhere = true;

  constructor(
    private readonly database: Statements,
    private readonly metrics: Pick<Metrics, 'oldestTransactionSeconds'>,
  ) {}

  async runOnce(): Promise<number> {
    const gauge = this.metrics.oldestTransactionSeconds;
    // No figure is better than an old one.
    const [oldest] = await this.database.query<{ seconds: number }>(OLDEST_TRANSACTION).finally(() => gauge.remove());
    gauge.set(oldest?.seconds ?? 0);
    return 0;
  }
}

const OLDEST_TRANSACTION = Prisma.sql`
  SELECT greatest(0, extract(epoch FROM clock_timestamp() - min(began)))::float8 AS seconds FROM (
    SELECT xact_start AS began FROM pg_stat_activity
    WHERE datname = current_database() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
      AND backend_type <> 'autovacuum worker' AND pid <> pg_backend_pid()
    UNION ALL
    SELECT prepared FROM pg_prepared_xacts WHERE database = current_database()
  ) AS transactions`;
