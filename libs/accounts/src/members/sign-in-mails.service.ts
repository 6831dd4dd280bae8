import { createHash } from 'node:crypto';
import { Refusal, newId } from '@millrace/contracts';
import type { Database } from '@millrace/database';
import type { MailOutbox } from '@millrace/mail';
import { Pseudonyms, type KeyRing } from '@millrace/platform';
import type { RateLimiter } from '../rate-limiter';
import type { SignInRequestStore } from './sign-in-request.store';
import { SignInSeal } from './sign-in-seal';

/** A link counts as long as the browser keeps what it asked with. */
const SIGN_IN_SECONDS = 900;
/** In a minute from a network. */
const FROM_A_NETWORK = 10;
/** In a minute for an address, from one network: a stranger elsewhere takes nothing of it. */
const FOR_AN_ADDRESS = 3;
/** In a minute for an address, from all networks together. */
const FOR_AN_ADDRESS_FROM_ALL = 60;

/** Asking for links by mail, each for the browser that asks. A maintenance process sends them: `SendSignInMailsLoop`. */
export class SignInMailsService {
  private readonly seal: SignInSeal;
  private readonly networks: Pseudonyms;
  private readonly addresses: Pseudonyms;

  constructor(
    private readonly database: Database,
    private readonly requests: Pick<SignInRequestStore, 'insert'>,
    private readonly outbox: Pick<MailOutbox, 'isOpen'>,
    ring: KeyRing,
  ) {
    this.seal = new SignInSeal(ring);
    this.networks = new Pseudonyms(ring, 'sign-in networks');
    this.addresses = new Pseudonyms(ring, 'mail addresses');
  }

  /**
   * Have a member of this address sent a link for each of their accounts. Who asks cannot find out whether there is one: what was asked is
   * recorded, and nothing is looked up.
   *
   * @param browser what the browser keeps that asked; only with it a link counts.
   * @param origin of the console to which a link leads.
   * @throws Refusal `invalid_request` where no mail is sent, `rate_limited`.
   */
  async ask(
    limiter: RateLimiter,
    { email: address, network, browser, origin }: { email: string; network: string; browser: string; origin: string },
  ): Promise<void> {
    if (!this.outbox.isOpen) throw noMail();
    const email = address.toLowerCase();
    const who = this.addresses.of(email).toString('base64');
    // The network first: what it is refused counts against no address.
    assertRoom(limiter, `sign-in-mails-from:${network}`, FROM_A_NETWORK);
    assertRoom(limiter, `sign-in-mails:${who}:${network}`, FOR_AN_ADDRESS);
    assertRoom(limiter, `sign-in-mails:${who}`, FOR_AN_ADDRESS_FROM_ALL);
    const id = newId();
    const request = {
      id,
      sealed: this.seal.seal(id, { email, origin }),
      browserHash: browserHash(browser),
      networkHash: this.networks.of(network),
    };
    await this.requests.insert(this.database, request, SIGN_IN_SECONDS);
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
