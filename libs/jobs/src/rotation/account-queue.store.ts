import { Prisma } from '@prisma/client';
import type { Statements } from '@millrace/database';
import { deploymentPools } from '@millrace/deployments';
import { isSetAside } from '../state';
import type { UnclaimedAttempt } from './lane-snapshot';
import { rejoinedPass } from './rejoined-pass.store';

/** What an account has in the queues of all pools. */
export interface AccountLoad {
  /** Jobs that wait their turn. */
  waiting: number;
  /** Jobs that run, or are in a lane about to. */
  inFlight: number;
}

/** What an account's limits make of its places in the rotations. */
export interface RotationTerms {
  weight: number;
  runningLimit: number;
}

/** An account's share in a pool's rotation, while it has jobs waiting. */
export interface BusyAccount {
  accountId: string;
  waiting: number;
  weight: number;
}

/** Attempts of a pool that are read at most. Its lane has fewer; without a limit are those that are set aside. */
const MOST_UNCLAIMED = 1_000;

/** The SQL of accounts' places in the rotations, other than what moves jobs: the rows of `account_queues`, and what has had its turn. */
export class AccountQueueStore {
  async load(tx: Statements, accountId: string): Promise<AccountLoad> {
    const [load] = await tx.rows<AccountLoad>(Prisma.sql`
      SELECT coalesce(sum(waiting), 0)::int AS waiting, coalesce(sum(in_flight), 0)::int AS in_flight
      FROM account_queues WHERE account_id = ${accountId}::uuid`);
    if (load === undefined) throw new Error('a sum over nothing is a row of zeros');
    return load;
  }

  /** Jobs of the account that wait in a pool. */
  async waitingIn(statements: Statements, poolId: string, accountId: string): Promise<number> {
    const [queue] = await statements.rows<{ waiting: number }>(Prisma.sql`
      SELECT waiting FROM account_queues WHERE pool_id = ${poolId} AND account_id = ${accountId}::uuid`);
    return queue?.waiting ?? 0;
  }

  /** Jobs of a pool that have not ended. */
  async livingIn(tx: Statements, deploymentId: string): Promise<number> {
    const [living] = await tx.rows<{ jobs: number }>(Prisma.sql`
      SELECT coalesce(sum(waiting + in_flight), 0)::int AS jobs
      FROM account_queues q JOIN ${deploymentPools} dp ON dp.pool_id = q.pool_id WHERE dp.deployment_id = ${deploymentId}::uuid`);
    return living?.jobs ?? 0;
  }

  /** The accounts with jobs waiting in a pool. */
  async listBusy(statements: Statements, poolId: string): Promise<BusyAccount[]> {
    return statements.rows(Prisma.sql`
      SELECT q.account_id, q.waiting, q.weight FROM account_turns t
      JOIN account_queues q ON q.pool_id = t.pool_id AND q.account_id = t.account_id
      WHERE t.pool_id = ${poolId}`);
  }

  /** The attempts of a pool that have had their turn and that no worker has claimed, in the order in which they went to the lane. */
  async listUnclaimed(statements: Statements, poolId: string): Promise<UnclaimedAttempt[]> {
    return statements.rows(this.listUnclaimedSql(poolId));
  }

  /** The statement of `listUnclaimed`, whose plan a test checks: a walk over what is in flight. */
  listUnclaimedSql(poolId: string): Prisma.Sql {
    return Prisma.sql`
      SELECT j.id, ${isSetAside} AS is_set_aside FROM jobs j WHERE j.pool_id = ${poolId} AND j.delivery = 'dispatched'
      ORDER BY j.dispatched_at, j.id LIMIT ${MOST_UNCLAIMED}`;
  }

  /** Correct weight and running limit of every place that differs from its account, but for those that others have locked. @returns how many. */
  async applyAllLimits(tx: Statements, defaultRunningLimit: number): Promise<number> {
    return tx.execute(Prisma.sql`
      WITH wrong AS (
        SELECT q.pool_id, q.account_id, a.weight, coalesce(a.running_limit, ${defaultRunningLimit}) AS running_limit
        FROM account_queues q JOIN accounts a ON a.id = q.account_id
        WHERE (q.weight, q.running_limit) <> (a.weight, coalesce(a.running_limit, ${defaultRunningLimit}))
        FOR NO KEY UPDATE OF q SKIP LOCKED
      )
      UPDATE account_queues q SET weight = w.weight, running_limit = w.running_limit, pass = ${rejoinedPass}
      FROM wrong w, pools p
      WHERE q.pool_id = w.pool_id AND q.account_id = w.account_id AND p.id = q.pool_id`);
  }

  /** Delete the places of an account that is about to be deleted. @throws ConstraintError `foreign_key` while it has jobs. */
  async forgetAccount(tx: Statements, accountId: string): Promise<void> {
    await tx.execute(Prisma.sql`DELETE FROM account_queues WHERE account_id = ${accountId}::uuid`);
  }

  /** Set weight and running limit of every place of the account. */
  async setTerms(tx: Statements, accountId: string, { weight, runningLimit }: RotationTerms): Promise<void> {
    await tx.execute(Prisma.sql`
      UPDATE account_queues q SET weight = ${weight}, running_limit = ${runningLimit}, pass = ${rejoinedPass}
      FROM pools p
      WHERE q.account_id = ${accountId}::uuid AND p.id = q.pool_id
        AND (q.weight, q.running_limit) <> (${weight}, ${runningLimit})`);
  }
}
