import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

/** What an account has in the queues of all pools. */
export interface AccountLoad {
  /** Jobs that wait their turn. */
  waiting: number;
  /** Jobs that run, or are in a lane about to. */
  inFlight: number;
}

/** The SQL of an account's places in the queues. */
export class AccountQueueStore {
  async load(tx: Statements, accountId: string): Promise<AccountLoad> {
    const [row] = await tx.query<{ waiting: number; in_flight: number }>(Prisma.sql`
      SELECT coalesce(sum(waiting), 0)::int AS waiting, coalesce(sum(in_flight), 0)::int AS in_flight
      FROM account_queues WHERE account_id = ${accountId}::uuid`);
    return { waiting: row?.waiting ?? 0, inFlight: row?.in_flight ?? 0 };
  }
}
