import type { Database } from '@millrace/database';
import type { MoneyMails } from '@millrace/mail';
import type { Loop } from '@millrace/platform';
import { creditsText } from '../price';
import type { SpendAnomalyStore } from './spend-anomaly.store';

const BATCH = 100;
const FACTOR = 10;
const DAYS = 7;
/** One credit: an hour that costs less is never unusual. */
const FLOOR_MICROS = 1_000_000;

/**
 * Notices accounts of an hour that costs ten times as much as usual: a loop in their own code, or a key in the wrong hands. The note, the
 * event and the mails are one transaction.
 */
export class NoteSpendAnomaliesLoop implements Loop {
  readonly name = 'note-spend-anomalies';
  readonly everyMs = 60_000;

  constructor(
    private readonly database: Pick<Database, 'transaction'>,
    private readonly store: Pick<SpendAnomalyStore, 'note'>,
    private readonly mails: MoneyMails,
  ) {}

  runOnce(): Promise<number> {
    return this.database.transaction(async (tx) => {
      const noted = await this.store.note(tx, { factor: FACTOR, days: DAYS, floorMicros: FLOOR_MICROS }, BATCH);
      for (const { accountId, hour, chargedMicros, usualMicros } of noted) {
        const costs = `${creditsText(chargedMicros)} credits so far, and the usual hour costs ${creditsText(usualMicros)}`;
        const lines = [`- the hour from ${hour} costs ${costs}: a program in a loop, or a key in the wrong hands?`];
        await this.mails.add(tx, accountId, { subject: 'Unusual spend', lines });
      }
      return noted.length;
    });
  }
}
