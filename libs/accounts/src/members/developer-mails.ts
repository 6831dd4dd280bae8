import type { Statements } from '@millrace/database';
import type { DeveloperMails, MailNotice, MailOutbox } from '@millrace/mail';
import { developerMail } from './mails';
import type { MemberStore } from './member.store';

/** As long as the service tries to reach a receiver before it gives up: what did not go out in a time as long is seen in the console. */
const LIFE_SECONDS = 259_200;
/** Of an account in a day. What causes them may come as often as somebody wants: an endpoint is enabled, and fails again. */
const NOTICES_A_DAY = 20;
const LAST =
  'You get no more mail of this kind today (UTC): there was too much of it. The console shows what else happens.';

/** Mail to the owners and the developers of an account. Where no mail is sent, nothing is recorded. */
export class MemberDeveloperMails implements DeveloperMails {
  constructor(
    private readonly members: Pick<MemberStore, 'developersOf' | 'takeDeveloperNotice'>,
    private readonly outbox: Pick<MailOutbox, 'isOpen' | 'add'>,
  ) {}

  async add(tx: Statements, accountId: string, { subject, lines }: MailNotice): Promise<void> {
    if (!this.outbox.isOpen) return;
    const nth = await this.members.takeDeveloperNotice(tx, accountId, NOTICES_A_DAY);
    if (nth === null) return;
    const notice = { subject, lines: nth < NOTICES_A_DAY ? lines : [...lines, '', LAST] };
    for (const { email, accountName } of await this.members.developersOf(tx, accountId)) {
      await this.outbox.add(tx, accountId, developerMail(email, accountName, notice), LIFE_SECONDS);
    }
  }
}
