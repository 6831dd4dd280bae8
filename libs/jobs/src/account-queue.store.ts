import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';

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
