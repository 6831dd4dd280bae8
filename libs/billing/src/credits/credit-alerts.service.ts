import type { Database, Statements } from '@millrace/database';
import type { CreditAlertStore } from './credit-alert.store';

/** Below how much an account is warned of low credits, in micro-credits; 0: never. */
export class CreditAlerts {
  constructor(
    private readonly database: Database,
    private readonly store: CreditAlertStore,
  ) {}

  async read(accountId: string): Promise<bigint> {
    return this.store.find(this.database, accountId);
  }

  /** In the transaction of the act that records it. */
  async set(tx: Statements, accountId: string, belowMicros: bigint): Promise<void> {
    await this.store.set(tx, accountId, belowMicros);
  }
}
