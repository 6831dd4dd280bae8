import { creditsText } from '@millrace/billing';
import type { Database } from '@millrace/database';
import type { MoneyMails } from '@millrace/mail';
import type { Loop } from '@millrace/platform';
import { SpendMailStore, type DueWarning } from '../labels';

const BATCH = 200;

/**
 * Mails how much of a cap is used to those of its account who answer for the money: one mail for all that is new of an account. What is
 * taken and its mail are one transaction, so that each level of a day or month is mailed once.
 */
export class MailSpendWarningsLoop implements Loop {
  readonly name = 'mail-spend-warnings';
  readonly everyMs = 2_000;

  constructor(
    private readonly database: Pick<Database, 'transaction'>,
    private readonly mails: MoneyMails,
    private readonly store = new SpendMailStore(),
  ) {}

  runOnce(): Promise<number> {
    return this.database.transaction(async (tx) => {
      const due = await this.store.take(tx, BATCH);
      for (const accountId of new Set(due.map((warning) => warning.accountId))) {
        const warnings = due.filter((warning) => warning.accountId === accountId);
        const lines = warnings.flatMap(linesOf);
        const most = Math.max(...warnings.flatMap(({ dayPercent, monthPercent }) => [dayPercent, monthPercent]));
        // A cap that is gone again is nobody's business any more.
        if (lines.length > 0) await this.mails.add(tx, accountId, { subject: `${most} percent of a spend cap`, lines });
      }
      return due.length;
    });
  }
}

function linesOf({ keyId, on, ...used }: DueWarning): string[] {
  const whose = keyId === null ? 'of the account' : `of the API key ${keyId}`;
  const line = (percent: number, micros: bigint | null, span: string): string[] =>
    percent === 0 || micros === null
      ? []
      : [`- ${percent} percent of the ${span} cap ${whose}, ${creditsText(micros)} credits (${on}, UTC)`];
  return [
    ...line(used.dayPercent, used.dailyMicros, 'daily'),
    ...line(used.monthPercent, used.monthlyMicros, 'monthly'),
  ];
}
