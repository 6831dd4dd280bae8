import { Refusal, SCOPES, type Scope } from '@millrace/contracts';
import type { Database } from '@millrace/database';
import type { Account, AccountChanges, AccountStore } from './account.store';
import { generateApiKey } from './api-key';
import type { ApiKeyStore } from './api-key.store';
import type { AuditLogStore } from './audit-log.store';

/** Who does an administrative act, and from where. */
export interface Operator {
  actor: string;
  address: string | null;
}

export interface IssuedApiKey {
  id: string;
  /** The key itself: shown now and never again. */
  key: string;
}

/** Accounts and their keys, as an operator manages them. Every act is in the audit log. */
export class AccountsService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly keys: ApiKeyStore,
    private readonly audit: AuditLogStore,
    private readonly keyEnvironment: string,
  ) {}

  async createAccount(operator: Operator, account: AccountChanges & { name: string }): Promise<Account> {
    return this.database.transaction(async (tx) => {
      const created = await this.accounts.create(tx, account);
      const details = { name: created.name };
      await this.audit.append(tx, { ...operator, ...subject('account.create', created.id), details });
      return created;
    });
  }

  /** @throws Refusal `not_found`. */
  async updateAccount(operator: Operator, id: string, changes: AccountChanges): Promise<Account> {
    return this.database.transaction(async (tx) => {
      const updated = await this.accounts.update(tx, id, changes);
      if (updated === null) throw noAccount(id);
      const { uploadBytesPerDay, ...rest } = changes;
      const details =
        uploadBytesPerDay === undefined ? rest : { ...rest, uploadBytesPerDay: String(uploadBytesPerDay) };
      await this.audit.append(tx, { ...operator, ...subject('account.update', id), details });
      return updated;
    });
  }

  /** @throws Refusal `not_found`. */
  async getAccount(id: string): Promise<Account> {
    const account = await this.accounts.find(this.database, id);
    if (account === null) throw noAccount(id);
    return account;
  }

  /** Make sure that an account of a fixed id exists: the self-hosted surface and demo deployments act through one. */
  async ensureAccount(account: { id: string; name: string; kind: 'self_hosted' | 'demo' }): Promise<void> {
    await this.accounts.ensure(this.database, account);
  }

  /** @throws Refusal `not_found`. */
  async issueKey(
    operator: Operator,
    accountId: string,
    draft: { name: string; scopes?: Scope[]; expiresAt?: Date | null },
  ): Promise<IssuedApiKey> {
    const { key, hash, lastFour } = generateApiKey(this.keyEnvironment);
    return this.database.transaction(async (tx) => {
      if ((await this.accounts.find(tx, accountId)) === null) throw noAccount(accountId);
      const scopes = draft.scopes ?? [...SCOPES];
      const expiresAt = draft.expiresAt ?? null;
      const created = await this.keys.create(tx, { accountId, name: draft.name, hash, lastFour, scopes, expiresAt });
      const details = { name: draft.name, scopes };
      await this.audit.append(tx, {
        ...operator,
        action: 'api_key.create',
        subjectType: 'api_key',
        subjectId: created.id,
        accountId,
        details,
      });
      return { id: created.id, key };
    });
  }
}

function subject(
  action: string,
  id: string,
): { action: string; subjectType: string; subjectId: string; accountId: string } {
  return { action, subjectType: 'account', subjectId: id, accountId: id };
}

function noAccount(id: string): Refusal {
  return new Refusal('not_found', `There is no account ${id}.`);
}
