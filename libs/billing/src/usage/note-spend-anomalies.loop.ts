import type { Database } from '@millrace/database';
import type { MoneyMails } from '@millrace/mail';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import { creditsText } from '../price';
import type { SpendAnomaly, SpendAnomalyStore } from './spend-anomaly.store';

const PAGE = 100;
const REST = { firstMs: 60_000, longestMs: 600_000 };
/** One credit: an hour that costs less is never unusual. */
const TERMS = { factor: 10, days: 7, floorMicros: 1_000_000 };

/**
 * Notices accounts of an hour that costs ten times as much as usual: a loop in their own code, or a key in the wrong hands. The note, the
 * event and the mails are one transaction. It is of one account: it locks the balance, for which the submissions and ends of jobs wait.
 */
export class NoteSpendAnomaliesLoop implements Loop {
  readonly name = 'note-spend-anomalies';
  readonly everyMs = 60_000;
  private readonly sweep: ItemSweep<SpendAnomaly>;

  constructor(
    private readonly database: Database,
    private readonly store: Pick<SpendAnomalyStore, 'list' | 'note'>,
    private readonly mails: MoneyMails,
  ) {
    this.sweep = new ItemSweep({
      limit: PAGE,
      rest: REST,
      page: (after, limit) => store.list(database, TERMS, after, limit),
      keyOf: ({ accountId }) => accountId,
      work: (anomaly) => this.note(anomaly),
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }

  private note(anomaly: SpendAnomaly): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      if (!(await this.store.note(tx, anomaly))) return false;
      const { accountId, hour, chargedMicros, usualMicros } = anomaly;
      const costs = `${creditsText(chargedMicros)} credits so far, and the usual hour costs ${creditsText(usualMicros)}`;
      const lines = [`- the hour from ${hour} costs ${costs}: a program in a loop, or a key in the wrong hands?`];
      await this.mails.add(tx, accountId, { subject: 'Unusual spend', lines });
      return true;
    });
  }
}
