import type { Statements } from '@millrace/database';
import type { Balance } from './balance';

/** The SQL of balances outside a job's life; `hold.store.ts` has that of jobs. */
export class LedgerStore {
  /** What an account has, in micro-credits. */
  async balance(tx: Statements, accountId: string): Promise<Balance> {
    const row = await tx.models.balance.findUnique({ where: { accountId } });
    return { availableMicros: row?.availableMicros ?? 0n, heldMicros: row?.heldMicros ?? 0n };
  }
}
