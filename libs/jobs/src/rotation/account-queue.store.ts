import { Prisma } from '@prisma/client';
import { statementPart, type StatementPart, type Statements } from '@millrace/database';

/** What an account has in the queues of all pools. */
export interface AccountLoad {
  /** Jobs that wait their turn. */
  waiting: number;
  /** Jobs that run, or are in a lane about to. */
  inFlight: number;
}

/** What an account's limits make of its places in the queues. */
export interface QueueTerms {
  weight: number;
  runningLimit: number;
}

/** The SQL of an account's places in the queues. */
export class AccountQueueStore {
  async load(tx: Statements, accountId: string): Promise<AccountLoad> {
    const [row] = await tx.query<{ waiting: number; in_flight: number }>(Prisma.sql`
      SELECT coalesce(sum(waiting), 0)::int AS waiting, coalesce(sum(in_flight), 0)::int AS in_flight
      FROM account_queues WHERE account_id = ${accountId}::uuid`);
    return { waiting: row?.waiting ?? 0, inFlight: row?.in_flight ?? 0 };
  }

  /** Set what the places of all accounts go by, where it is not what their accounts say. @returns how many were wrong. */
  async followAccounts(tx: Statements, defaultRunningLimit: number): Promise<number> {
    return tx.execute(Prisma.sql`
      UPDATE account_queues q SET weight = a.weight, running_limit = coalesce(a.running_limit, ${defaultRunningLimit})
      FROM accounts a
      WHERE a.id = q.account_id
        AND (q.weight, q.running_limit) <> (a.weight, coalesce(a.running_limit, ${defaultRunningLimit}))`);
  }

  /** Set what every place of the account goes by. */
  async setTerms(tx: Statements, accountId: string, { weight, runningLimit }: QueueTerms): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE account_queues SET weight = ${weight}, running_limit = ${runningLimit}
      WHERE account_id = ${accountId}::uuid AND (weight, running_limit) <> (${weight}, ${runningLimit})`);
  }
}

/**
 * Take the one job that `job` yields at most off its account's queue. The new counters are made from the locked row: an UPDATE
 * first makes its row from the version in its snapshot and checks the constraints on that, and a dispatch that the statement
 * waited for is not in its snapshot.
 *
 * @returns the job once its queue is written: parts run in no order of their own, and locks are taken in one.
 */
export function leaveQueuePart<Column extends string>(
  job: StatementPart<Column | 'pool_id' | 'account_id' | 'from_delivery'>,
): StatementPart<Column> {
  const now = statementPart('queue_now')`
    SELECT q.pool_id, q.account_id, q.waiting - CASE WHEN job.from_delivery = 'waiting' THEN 1 ELSE 0 END AS waiting,
      q.in_flight - CASE WHEN job.from_delivery = 'waiting' THEN 0 ELSE 1 END AS in_flight
    FROM ${job} job JOIN account_queues q ON q.pool_id = job.pool_id AND q.account_id = job.account_id FOR UPDATE OF q`;
  const queue = statementPart('queue')`
    UPDATE account_queues q SET waiting = n.waiting, in_flight = n.in_flight
    FROM ${now} n WHERE q.pool_id = n.pool_id AND q.account_id = n.account_id
    RETURNING 1`;
  return statementPart<Column>('ended')`
    SELECT job.* FROM ${job} job CROSS JOIN (SELECT count(*) FROM ${queue}) AS written`;
}
