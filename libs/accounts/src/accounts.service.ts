import { Refusal, isUuid } from '@millrace/contracts';
import { decodeCursor, pageOf, type Database, type Page, type Statements } from '@millrace/database';
import type { Account, AccountChanges } from './account';
import type { AccountStore } from './account.store';
import type { Act, ActDetails, AuditLog, Operator } from './audit-log';

const CURSOR = 'accounts';

/** Accounts, as an operator manages them. Every act is in the audit log. */
export class AccountsService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly audit: AuditLog,
    /** Carries an account's new limits to where they are enforced, in the transaction that changes them. */
    private readonly applyLimits: (tx: Statements, account: Account) => Promise<void>,
    /** Called after a change has committed: what this process has cached of accounts may be wrong now. */
    private readonly onChange: () => void,
  ) {}

  async createAccount(operator: Operator, account: AccountChanges & { name: string }): Promise<Account> {
    return this.audit.record(operator, async (tx, note) => {
      const created = await this.accounts.create(tx, account);
      note({ ...actOn(created.id, 'account.create'), details: detailsOf(account) });
      return created;
    });
  }

  /** @throws Refusal `not_found`; `invalid_request` for an account that is closed. */
  async updateAccount(operator: Operator, id: string, changes: AccountChanges): Promise<Account> {
    const account = await this.audit.record(operator, async (tx, note) => {
      const updated = await this.accounts.update(tx, id, changes);
      if (updated === null) throw (await this.accounts.find(tx, id)) === null ? noAccount(id) : closed(id);
      await this.applyLimits(tx, updated);
      note({ ...actOn(id, 'account.update'), details: detailsOf(changes) });
      return updated;
    });
    this.onChange();
    return account;
  }

  /** @throws Refusal `not_found`. */
  async getAccount(id: string): Promise<Account> {
    const account = await this.accounts.find(this.database, id);
    if (account === null) throw noAccount(id);
    return account;
  }

  /** A page of all accounts, newest first. @throws Refusal `invalid_cursor`. */
  async listAccounts({
    name = '',
    ...page
  }: {
    name?: string | undefined;
    cursor: string | null;
    limit: number;
  }): Promise<Page<Account>> {
    const before = page.cursor === null ? null : decodeCursor(CURSOR, page.cursor, isUuid);
    const rows = await this.accounts.list(this.database, name, before, page.limit + 1);
    return pageOf(CURSOR, rows, page.limit, ({ id }) => id);
  }

  /** Make sure that an account of a fixed id exists: the self-hosted surface and demo deployments act through one. */
  async ensureAccount(account: { id: string; name: string; kind: 'self_hosted' | 'demo' }): Promise<void> {
    await this.accounts.ensure(this.database, account);
  }
}

function actOn(id: string, action: string): Act {
  return { action, subjectType: 'account', subjectId: id, accountId: id };
}

function detailsOf(changes: AccountChanges): ActDetails {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

export function noAccount(id: string): Refusal {
  return new Refusal('not_found', `There is no account ${id}.`);
}

function closed(id: string): Refusal {
  return new Refusal('invalid_request', `The account ${id} is closed and erased; make another one instead.`);
}
