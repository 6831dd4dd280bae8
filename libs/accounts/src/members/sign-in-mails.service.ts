import { createHash } from 'node:crypto';
import { Refusal } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import type { MailOutbox } from '@millrace/mail';
import type { RateLimiter } from '../rate-limiter';
import type { SecretMint, SignInLinkStore } from '../sessions';
import { hashOf } from './invitations.service';
import { nobodysMail, signInMail } from './mails';
import type { MemberStore } from './member.store';

const LINK_LIFE_SECONDS = 900;
/** Links of one membership that can be used at a time: so many mails in that time, no matter who asks for them. */
const LINKS_AT_A_TIME = 3;
/** Accounts of one person to which a mail leads. */
const ACCOUNTS = 20;
/** In a minute, for an address and from a network. */
const FOR_AN_ADDRESS = 3;
const FROM_A_NETWORK = 10;

/** What links by mail are built on. */
interface SignInMailParts {
  database: Database;
  members: MemberStore;
  links: SignInLinkStore;
  outbox: MailOutbox;
  mint: SecretMint;
}

/** Links that sign members in, sent by mail, each for the browser that asked for it. */
export class SignInMailsService {
  constructor(private readonly parts: SignInMailParts) {}

  /**
   * Send a member of this address a link for each of their accounts. Who asks cannot find out whether there is one: the answer is the same,
   * and what is written, too.
   *
   * @param browser what the browser keeps that asked; only with it a link counts.
   * @param origin of the console to which a link leads.
   * @throws Refusal `invalid_request` where no mail is sent, `rate_limited`.
   */
  async send(
    limiter: RateLimiter,
    { email: address, network, browser, origin }: { email: string; network: string; browser: string; origin: string },
  ): Promise<void> {
    const { database, members, outbox } = this.parts;
    if (!outbox.isOpen) throw noMail();
    const email = address.toLowerCase();
    assertRoom(limiter, `sign-in-mails:${hashOf(email).toString('base64')}`, FOR_AN_ADDRESS);
    assertRoom(limiter, `sign-in-mails-from:${network}`, FROM_A_NETWORK);
    await database.transaction(async (tx) => {
      const memberships = await members.membershipsOf(tx, email, ACCOUNTS);
      // As much is written for nobody, and never sent.
      if (memberships.length === 0) await outbox.add(tx, null, nobodysMail(email), 0);
      for (const membership of memberships) await this.sendOne(tx, email, membership, browserHash(browser), origin);
    });
  }

  private async sendOne(
    tx: Statements,
    email: string,
    { accountId, accountName, apiKeyId }: { accountId: string; accountName: string; apiKeyId: string },
    browser: Buffer,
    origin: string,
  ): Promise<void> {
    const { links, mint, outbox } = this.parts;
    const token = mint.make();
    const grant = { accountId, apiKeyId, hash: hashOf(token), browser };
    if (!(await links.createForBrowser(tx, grant, LINK_LIFE_SECONDS, LINKS_AT_A_TIME))) return;
    await outbox.add(
      tx,
      accountId,
      signInMail(email, accountName, `${origin}/console/#link=${token}`),
      LINK_LIFE_SECONDS,
    );
  }
}

/** What the database has of the browser that asked. */
export function browserHash(browser: string): Buffer {
  return createHash('sha256').update(`browser\n${browser}`).digest();
}

function assertRoom(limiter: RateLimiter, who: string, limit: number): void {
  const { allowed, retryAfterSeconds } = limiter.take(who, limit);
  if (allowed) return;
  const message = `Links were asked for too often; wait ${retryAfterSeconds} s, and look into your mail meanwhile.`;
  throw new Refusal('rate_limited', message, { retryAfterSeconds });
}

function noMail(): Refusal {
  return new Refusal('invalid_request', 'This service sends no mail; sign in with an API key.');
}
