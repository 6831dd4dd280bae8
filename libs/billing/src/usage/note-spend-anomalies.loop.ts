import type { Database } from '@millrace/database';
import type { MoneyMails } from '@millrace/mail';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import { creditsText } from '../price';
import type { SpendAnomaly, SpendAnomalyStore } from './spend-anomaly.store';
import { UsualSpend } from './usual-spend';

const PAGE = 100;
const REST = { firstMs: 60_000, longestMs: 600_000 };
/** One credit: an hour that costs less is never unusual. */
const FLOOR_MICROS = 1_000_000n;
/** So many times as much as in the usual hour. */
const FACTOR = 10n;

/**
 * Notices accounts of an hour that costs ten times as much as usual: a loop in their own code, or a key in the wrong hands. The note, the
 * event and the mails are one transaction. It is of one account: it locks the balance, for which the submissions and ends of jobs wait. What is
 * read is of one account, too: one with so many jobs that its sums take too long keeps no other from being looked at.
 */
export class NoteSpendAnomaliesLoop implements Loop {
  readonly name = 'note-spend-anomalies';
  readonly everyMs = 60_000;
  private readonly sweep: ItemSweep<string>;
  private readonly usual: UsualSpend;

  constructor(
    private readonly database: Database,
    private readonly store: Pick<SpendAnomalyStore, 'listActive' | 'spentNow' | 'past' | 'note'>,
    private readonly mails: MoneyMails,
    private readonly floorMicros = FLOOR_MICROS,
  ) {
    this.usual = new UsualSpend(store);
    this.sweep = new ItemSweep({
      limit: PAGE,
      rest: REST,
      page: (after, limit) => store.listActive(database, after, limit),
      keyOf: (accountId) => accountId,
      work: (accountId) => this.look(accountId),
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }

  private async look(accountId: string): Promise<boolean> {
    const { hour, chargedMicros } = await this.store.spentNow(this.database, accountId);
    if (chargedMicros < this.floorMicros) return false;
    const usualMicros = await this.usual.before(this.database, accountId, hour);
    if (usualMicros === null || usualMicros === 0n || chargedMicros < usualMicros * FACTOR) return false;
    return this.note({ accountId, hour: textOf(hour), chargedMicros, usualMicros });
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

/** @param hour since 1970, UTC. @returns `yyyy-mm-ddThh:mm:ssZ` */
function textOf(hour: number): string {
  return new Date(hour * 3_600_000).toISOString().replace('.000', '');
}
