import type { Database } from '@millrace/database';
import type { MoneyMails } from '@millrace/mail';
import { BoundedMap, ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import { creditsText } from '../price';
import type { ActiveAccount, SpendAnomaly, SpendAnomalyStore } from './spend-anomaly.store';
import { UsualSpend } from './usual-spend';

const PAGE = 100;
const REST = { firstMs: 60_000, longestMs: 600_000 };
/** One credit: an hour that costs less is never unusual. */
const FLOOR_MICROS = 1_000_000n;
/** So many times as much as in the usual hour. */
const FACTOR = 10n;
/** Accounts of which it is remembered whether the hour before was looked at; of any beyond them it is looked at again. */
const REMEMBERED = 20_000;

/**
 * Notices accounts of an hour that costs ten times as much as usual: a loop in their own code, or a key in the wrong hands. The hour before is looked
 * at, too: what was charged after the last look at it, by its end or while no process looked, and once more when nothing is charged in it any more. The note, the
 * event and the mails are one transaction. It is of one account: it locks the balance, for which the submissions and ends of jobs wait. What is
 * read is of one account, too: one with so many jobs that its sums take too long keeps no other from being looked at.
 */
export class NoteSpendAnomaliesLoop implements Loop {
  readonly name = 'note-spend-anomalies';
  readonly everyMs = 60_000;
  private readonly sweep: ItemSweep<ActiveAccount>;
  /** The last hour that was looked at when it had ended, and whether nothing was charged in it any more. */
  private readonly ended = new BoundedMap<{ hour: number; isSettled: boolean }>(REMEMBERED);
  private readonly usual: UsualSpend;

  constructor(
    private readonly database: Database,
    private readonly store: Pick<SpendAnomalyStore, 'listActive' | 'spentIn' | 'past' | 'note'>,
    private readonly mails: MoneyMails,
    private readonly floorMicros = FLOOR_MICROS,
  ) {
    this.usual = new UsualSpend(store);
    this.sweep = new ItemSweep({
      limit: PAGE,
      rest: REST,
      page: (after, limit) => store.listActive(database, after, limit),
      keyOf: ({ accountId }) => accountId,
      work: (account) => this.look(account),
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }

  /** The hour before comes first: a note is never of an earlier hour than the last one. */
  private async look(account: ActiveAccount): Promise<boolean> {
    const ended = await this.lookAtEnded(account);
    return (account.isActive && (await this.judge(account.accountId, account.hour, 'now')) === true) || ended;
  }

  private async lookAtEnded({ accountId, hour, isEndedNoted, isEndedSettled }: ActiveAccount): Promise<boolean> {
    const last = this.ended.get(accountId);
    const isKnown = last !== undefined && last.hour === hour - 1 && (last.isSettled || !isEndedSettled);
    if (isEndedNoted || isKnown) return false;
    const noted = await this.judge(accountId, hour - 1, 'ended');
    if (noted !== null) this.ended.set(accountId, { hour: hour - 1, isSettled: isEndedSettled });
    return noted === true;
  }

  /** @returns whether the hour was noted; null while it is not known what the usual one costs. */
  private async judge(accountId: string, hour: number, state: 'now' | 'ended'): Promise<boolean | null> {
    const chargedMicros = await this.store.spentIn(this.database, accountId, hour);
    if (chargedMicros < this.floorMicros) return false;
    const usualMicros = await this.usual.before(this.database, accountId, hour);
    if (usualMicros === null) return null;
    if (usualMicros === 0n || chargedMicros < usualMicros * FACTOR) return false;
    return this.note({ accountId, hour: textOf(hour), chargedMicros, usualMicros }, state);
  }

  private note(anomaly: SpendAnomaly, state: 'now' | 'ended'): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      if (!(await this.store.note(tx, anomaly))) return false;
      const { accountId, hour, chargedMicros, usualMicros } = anomaly;
      const charged = creditsText(chargedMicros);
      const costs = state === 'now' ? `costs ${charged} credits so far` : `has cost ${charged} credits`;
      const usual = `the usual hour costs ${creditsText(usualMicros)}`;
      const lines = [
        `- the hour from ${hour} ${costs}, and ${usual}: a program in a loop, or a key in the wrong hands?`,
      ];
      await this.mails.add(tx, accountId, { subject: 'Unusual spend', lines });
      return true;
    });
  }
}

/** @param hour since 1970, UTC. @returns `yyyy-mm-ddThh:mm:ssZ` */
function textOf(hour: number): string {
  return new Date(hour * 3_600_000).toISOString().replace('.000', '');
}
