import { Prisma, type Account as StoredAccount } from '@prisma/client';
import { newId } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Account, AccountChanges } from './account';
import { limitsOf, type AccountLimits } from './account-limits';

const NETWORK = 'demo_network' satisfies Account['kind'];

/** Accounts, as they are stored. */
export class AccountStore {
  async create(tx: Statements, account: AccountChanges & { name: string }): Promise<Account> {
    return accountOf(await tx.models.account.create({ data: { ...account, id: newId() } }));
  }

  /** Create the account of this id unless it is there already. */
  async ensure(tx: Statements, account: Pick<Account, 'id' | 'name' | 'kind'>): Promise<void> {
    const { id, name, kind } = account;
    await tx.execute(Prisma.sql`
      INSERT INTO accounts (id, name, kind) VALUES (${id}::uuid, ${name}, ${kind}) ON CONFLICT DO NOTHING`);
  }

  /** The first that was made of these networks' accounts; null when there is none. */
  async findNetwork(tx: Statements, ids: string[]): Promise<string | null> {
    const [row] = await tx.rows<{ id: string }>(Prisma.sql`
      SELECT id FROM accounts WHERE id = ANY(${ids}::uuid[]) AND kind = 'demo_network' ORDER BY created_at, id LIMIT 1`);
    return row?.id ?? null;
  }

  /** Make sure that a network has its account, with these limits, and note that it is in use. */
  async keepNetwork(tx: Statements, id: string, { weight, ...limits }: AccountLimits): Promise<void> {
    const data = { ...limits, weight, updatedAt: new Date() };
    await tx.models.account.createMany({ data: [{ ...data, id, name: NETWORK, kind: NETWORK }], skipDuplicates: true });
    await tx.models.account.updateMany({ where: { id, kind: NETWORK }, data });
  }

  /** Accounts of networks that were not in use for `idleSeconds`, in the order of their ids. @param afterId null: from the first. */
  async listIdleNetworks(
    tx: Statements,
    idleSeconds: number,
    afterId: string | null,
    limit: number,
  ): Promise<string[]> {
    const rows = await tx.rows<{ id: string }>(Prisma.sql`
      SELECT id FROM accounts
      WHERE kind = 'demo_network' AND updated_at < now() - make_interval(secs => ${idleSeconds})
        AND (id > ${afterId}::uuid) IS NOT FALSE
      ORDER BY id LIMIT ${limit}`);
    return rows.map(({ id }) => id);
  }

  /** Delete the account of an idle network. @throws ConstraintError `foreign_key` while it has anything. */
  async removeNetwork(tx: Statements, id: string, idleSeconds: number): Promise<boolean> {
    const count = await tx.execute(Prisma.sql`
      DELETE FROM accounts WHERE id = ${id}::uuid AND kind = 'demo_network'
        AND updated_at < now() - make_interval(secs => ${idleSeconds})`);
    return count > 0;
  }

  async find(tx: Statements, id: string): Promise<Account | null> {
    const account = await tx.models.account.findUnique({ where: { id } });
    return account && accountOf(account);
  }

  /** Hold an account's row against changes until the transaction ends. @returns false when there is none, or it is closed. */
  async lock(tx: Statements, id: string): Promise<boolean> {
    return (
      (await tx.execute(
        Prisma.sql`SELECT 1 FROM accounts WHERE id = ${id}::uuid AND closed_at IS NULL FOR NO KEY UPDATE`,
      )) > 0
    );
  }

  /**
   * Accounts but those of networks, newest first, `limit` at most, older than `before` where one is given.
   *
   * @param name only those that have this in their name, in any case; empty for all.
   */
  async list(tx: Statements, name: string, before: string | null, limit: number): Promise<Account[]> {
    const accounts = await tx.models.account.findMany({
      where: {
        id: { lt: before ?? undefined },
        kind: { not: NETWORK },
        ...(name !== '' && { name: { contains: name, mode: 'insensitive' } }),
      },
      orderBy: { id: 'desc' },
      take: limit,
    });
    return accounts.map(accountOf);
  }

  /** @returns null when there is no such account, or it is closed. */
  async update(tx: Statements, id: string, changes: AccountChanges): Promise<Account | null> {
    const { count } = await tx.models.account.updateMany({ where: { id, closedAt: null }, data: changes });
    return count === 0 ? null : this.find(tx, id);
  }
}

/** CHECKs in the database allow no other kind and status. */
function accountOf(row: StoredAccount): Account {
  return { ...row, ...limitsOf(row), kind: row.kind as Account['kind'], status: row.status as Account['status'] };
}
