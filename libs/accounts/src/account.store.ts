import { Prisma, type Account as StoredAccount } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Account, AccountChanges } from './account';
import { limitsOf } from './account-limits';

/** Accounts, as they are stored. */
export class AccountStore {
  async create(tx: Statements, account: AccountChanges & { name: string }): Promise<Account> {
    return accountOf(await tx.models.account.create({ data: { ...account, id: newId() } }));
  }

  /** Create the account of this id unless it is there already. */
  async ensure(tx: Statements, account: Pick<Account, 'id' | 'name' | 'kind'>): Promise<void> {
    await tx.models.account.createMany({ data: [account], skipDuplicates: true });
  }

  async find(tx: Statements, id: string): Promise<Account | null> {
    const account = await tx.models.account.findUnique({ where: { id } });
    return account && accountOf(account);
  }

  /** Hold an account's row against changes until the transaction ends. @returns false when there is none. */
  async lock(tx: Statements, id: string): Promise<boolean> {
    return (await tx.execute(Prisma.sql`SELECT 1 FROM accounts WHERE id = ${id}::uuid FOR UPDATE`)) > 0;
  }

  /** Accounts newest first, `limit` at most, older than `before` where one is given. */
  async list(tx: Statements, before: string | null, limit: number): Promise<Account[]> {
    const accounts = await tx.models.account.findMany({
      where: { id: { lt: before ?? undefined } },
      orderBy: { id: 'desc' },
      take: limit,
    });
    return accounts.map(accountOf);
  }

  /** @returns null when there is no such account. */
  async update(tx: Statements, id: string, changes: AccountChanges): Promise<Account | null> {
    const { count } = await tx.models.account.updateMany({ where: { id }, data: changes });
    return count === 0 ? null : this.find(tx, id);
  }
}

/** CHECKs in the database allow no other kind and status. */
function accountOf(row: StoredAccount): Account {
  return { ...row, ...limitsOf(row), kind: row.kind as Account['kind'], status: row.status as Account['status'] };
}
