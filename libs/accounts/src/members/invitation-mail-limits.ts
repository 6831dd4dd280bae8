import { Refusal } from '@millrace/contracts';
import type { Statements } from '@millrace/database';
import type { Pseudonyms } from '@millrace/platform';
import type { InvitationMailStore } from './invitation-mail.store';

const DAY_SECONDS = 86_400;
/** To one address of one account: who asks for a mail may be anyone, and who gets it did not ask. */
const PAUSE_SECONDS = 300;
const TO_AN_ADDRESS_PER_DAY = 10;

/** How many mails with invitations an account may have sent: in all, and to one address. */
export class InvitationMailLimits {
  /**
   * @param addresses pseudonyms of the addresses to which mails went.
   * @param mailsPerDay of one account.
   */
  constructor(
    private readonly mails: Pick<InvitationMailStore, 'insert' | 'waitSeconds'>,
    private readonly addresses: Pick<Pseudonyms, 'of'>,
    private readonly mailsPerDay: number,
  ) {}

  /** Count a mail of the account to this address. The account's row is held. @throws Refusal `rate_limited`. */
  async count(tx: Statements, accountId: string, email: string): Promise<void> {
    const { mails, addresses, mailsPerDay } = this;
    const address = addresses.of(email);
    const paused = await mails.waitSeconds(tx, { accountId, address }, 1, PAUSE_SECONDS);
    if (paused > 0) throw tooSoon(email, paused);
    const ofAddress = await mails.waitSeconds(tx, { accountId, address }, TO_AN_ADDRESS_PER_DAY, DAY_SECONDS);
    if (ofAddress > 0) throw tooSoon(email, ofAddress);
    const ofAccount = await mails.waitSeconds(tx, { accountId }, mailsPerDay, DAY_SECONDS);
    if (ofAccount > 0) throw tooMany(mailsPerDay, ofAccount);
    await mails.insert(tx, { accountId, address });
  }
}

function tooSoon(email: string, retryAfterSeconds: number): Refusal {
  const message = `${email} was sent an invitation a short time ago, or several today; wait ${retryAfterSeconds} s before the next one.`;
  return new Refusal('rate_limited', message, { retryAfterSeconds });
}

function tooMany(limit: number, retryAfterSeconds: number): Refusal {
  const message = `This account has sent ${limit} invitations in a day, which is the limit; wait ${retryAfterSeconds} s.`;
  return new Refusal('rate_limited', message, { retryAfterSeconds });
}
