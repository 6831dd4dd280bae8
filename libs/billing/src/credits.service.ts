import { newId } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import type { LedgerStore } from './ledger.store';

export interface BalanceView {
  availableMicros: bigint;
  heldMicros: bigint;
}

/** Credits as operators and account holders see them. */
export class CreditsService {
  constructor(
    private readonly database: Database,
    private readonly ledger: LedgerStore,
  ) {}

  /** Give an account credits, in the caller's transaction. @returns its balance afterwards. */
  async grant(
    tx: Statements,
    operator: { actor: string },
    accountId: string,
    amountMicros: bigint,
    reason: string,
  ): Promise<BalanceView> {
    const cause = `grant:${newId()}`;
    await this.ledger.credit(tx, { accountId, amountMicros, kind: 'grant', cause, reason, ...operator });
    return this.ledger.balance(tx, accountId);
  }

  async balance(accountId: string): Promise<BalanceView> {
    return this.ledger.balance(this.database, accountId);
  }
}
