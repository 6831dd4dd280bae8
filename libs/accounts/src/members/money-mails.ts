import type { Statements } from '@millrace/database';
import type { MailOutbox, MoneyMails } from '@millrace/mail';
import { spendMail } from './mails';
import type { MemberStore } from './member.store';

/** A warning that was not sent by then is of no use. */
const LIFE_SECONDS = 86_400;

/** Mail to the owners and the finance members of an account. Where no mail is sent, nothing is recorded. */
export class MemberMoneyMails implements MoneyMails {
  constructor(
    private readonly members: Pick<MemberStore, 'payersOf'>,
    private readonly outbox: MailOutbox,
  ) {}

  async add(tx: Statements, accountId: string, notice: { subject: string; lines: readonly string[] }): Promise<void> {
    if (!this.outbox.isOpen) return;
    for (const { email, accountName } of await this.members.payersOf(tx, accountId)) {
      await this.outbox.add(tx, accountId, spendMail(email, accountName, notice), LIFE_SECONDS);
    }
  }
}
