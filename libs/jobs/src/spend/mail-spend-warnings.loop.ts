import { creditsText } from '@millrace/billing';
import type { Database } from '@millrace/database';
import type { MoneyMails } from '@millrace/mail';
import { ItemSweep, type Loop, type LoopReport } from '@millrace/platform';
import { SpendMailStore, type DueWarning } from './spend-mail.store';

const PAGE = 200;
/** The most that a warning is late, and what a change of caps back and forth comes to: six mails an hour. */
const PAUSE_SECONDS = 600;
const REST = { firstMs: 10_000, longestMs: 600_000 };

/**
 * Mails how much of a cap is used to those of its account who answer for the money: one mail for all that is new of an account. What is
 * taken and its mail are one transaction, so that each level of a day or month is mailed once. It is of one account: what it takes is what
 * the submissions and ends of jobs write, which wait for it.
 */
export class MailSpendWarningsLoop implements Loop {
  readonly name = 'mail-spend-warnings';
  readonly everyMs = 2_000;
  private readonly sweep: ItemSweep<{ accountId: string }>;

  constructor(
    private readonly database: Database,
    private readonly mails: MoneyMails,
    private readonly store = new SpendMailStore(),
  ) {
    this.sweep = new ItemSweep({
      limit: PAGE,
      rest: REST,
      page: (after, limit) => store.listDue(database, PAUSE_SECONDS, after, limit),
      keyOf: ({ accountId }) => accountId,
      work: ({ accountId }) => this.mail(accountId),
    });
  }

  runOnce(report?: LoopReport): Promise<number> {
    return this.sweep.run(report);
  }

  /** @returns whether there was anything to take. */
  private mail(accountId: string): Promise<boolean> {
    return this.database.transaction(async (tx) => {
      const warnings = await this.store.take(tx, accountId);
      const lines = warnings.flatMap(linesOf);
      if (lines.length === 0) return warnings.length > 0;
      const most = Math.max(...lines.map(({ percent }) => percent));
      const notice = { subject: `${most} percent of a spend cap`, lines: lines.map(({ text }) => text) };
      await this.mails.add(tx, accountId, notice);
      await this.store.noteMailed(tx, accountId);
      return true;
    });
  }
}

/** What is to be said. A cap that is gone again is nobody's business any more. */
function linesOf({ keyId, ...used }: DueWarning): { percent: number; text: string }[] {
  const whose = keyId === null ? 'of the account' : `of the API key ${keyId}`;
  const line = (span: string, percent: number, on: string | null, micros: bigint | null) =>
    percent === 0 || micros === null
      ? []
      : [
          {
            percent,
            text: `- ${percent} percent of the ${span} cap ${whose}, ${creditsText(micros)} credits (${on}, UTC)`,
          },
        ];
  return [
    ...line('daily', used.dayPercent, used.dayOn, used.dailyMicros),
    ...line('monthly', used.monthPercent, used.monthOn, used.monthlyMicros),
  ];
}
