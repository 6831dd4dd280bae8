import type { Statements } from '@millrace/database';
import type { DeveloperMails, MailNotice, MailOutbox } from '@millrace/mail';
import { developerMail } from './mails';
import type { MemberStore } from './member.store';

/** As long as the service tries to reach a receiver before it gives up: what did not go out in a time as long is seen in the console. */
const LIFE_SECONDS = 259_200;

/** Mail to the owners and the developers of an account. Where no mail is sent, nothing is recorded. */
export class MemberDeveloperMails implements DeveloperMails {
  constructor(
    private readonly members: Pick<MemberStore, 'developersOf'>,
    private readonly outbox: MailOutbox,
  ) {}

  async add(tx: Statements, accountId: string, notice: MailNotice): Promise<void> {
    if (!this.outbox.isOpen) return;
    for (const { email, accountName } of await this.members.developersOf(tx, accountId)) {
      await this.outbox.add(tx, accountId, developerMail(email, accountName, notice), LIFE_SECONDS);
    }
  }
}
