import type { Database } from '@millrace/database';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import type { LedgerDaysStore } from './ledger-days.store';

const PAGE = 200;
/** Days of one account in a run. */
const DAYS = 31;

/** Closes the days of accounts' ledgers: a monthly statement reads what they come to, and no entry of theirs. */
export class CloseLedgerDaysLoop implements Loop {
  readonly name = 'close-ledger-days';
  readonly everyMs = 3_600_000;
  private readonly sweep: ItemSweep<string>;

  constructor(
    private readonly database: Database,
    private readonly days: Pick<LedgerDaysStore, 'listOpen' | 'closeNext'>,
  ) {
    this.sweep = new ItemSweep({
      limit: PAGE,
      page: (after, limit) => days.listOpen(database, after, limit),
      keyOf: (accountId) => accountId,
      work: (accountId) => this.close(accountId),
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }

  /** @returns whether any was closed: there may be more. */
  private async close(accountId: string): Promise<boolean> {
    let closed = 0;
    while (closed < DAYS && (await this.days.closeNext(this.database, accountId))) closed += 1;
    return closed > 0;
  }
}
