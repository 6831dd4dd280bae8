import { Prisma, type Account } from '@prisma/client';
import { newId, type AccountStatus } from '@millrace/contracts';
import type { Statements } from '@millrace/database';

/** What may be set on an account. An absent field keeps its value, null means the platform's default. */
export interface AccountChanges {
  name?: string;
  plan?: string;
  status?: AccountStatus;
  weight?: number;
  runningLimit?: number | null;
  queueLimit?: number | null;
  requestsPerMinute?: number | null;
  streamLimit?: number | null;
  uploadBytesPerDay?: bigint | null;
}

export type { Account } from '@prisma/client';

/** The SQL of accounts. */
export class AccountStore {
  async create(
    tx: Statements,
    account: AccountChanges & { name: string; kind?: string; id?: string },
  ): Promise<Account> {
    return tx.models.account.create({ data: { ...account, id: account.id ?? newId() } });
  }

  /** Create the account of this id unless it is there already. */
  async ensure(tx: Statements, account: { id: string; name: string; kind: string }): Promise<void> {
    await tx.models.account.createMany({ data: [account], skipDuplicates: true });
  }

  async find(tx: Statements, id: string): Promise<Account | null> {
    return tx.models.account.findUnique({ where: { id } });
  }

  /** Hold an account's row against changes until the transaction ends. @returns false when there is none. */
  async lock(tx: Statements, id: string): Promise<boolean> {
    return (await tx.query(Prisma.sql`SELECT 1 FROM accounts WHERE id = ${id}::uuid FOR UPDATE`)).length > 0;
  }

  /** Accounts newest first, `limit` at most, older than `before` where one is given. */
  async list(tx: Statements, before: string | null, limit: number): Promise<Account[]> {
    return tx.models.account.findMany({
      where: { id: { lt: before ?? undefined } },
      orderBy: { id: 'desc' },
      take: limit,
    });
  }

  /** @returns null when there is no such account. */
  async update(tx: Statements, id: string, changes: AccountChanges): Promise<Account | null> {
    const data: Prisma.AccountUpdateManyMutationInput = changes;
    const { count } = await tx.models.account.updateMany({ where: { id }, data });
    return count === 0 ? null : this.find(tx, id);
  }
}
