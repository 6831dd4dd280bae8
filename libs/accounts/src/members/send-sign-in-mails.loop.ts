import type { Database, Statements } from '@millrace/database';
import type { MailOutbox } from '@millrace/mail';
import type { Loop, LoopReport } from '@millrace/platform';
import type { SecretMint, SignInLinkStore } from '../sessions';
import { hashOf } from './link-hash';
import { signInMail } from './mails';
import type { MemberStore, Membership } from './member.store';
import type { SignInRequestStore, TakenSignInRequest } from './sign-in-request.store';
import type { AskedSignIn, SignInSeal } from './sign-in-seal';

/** Requests of one run. Anyone may ask for any address, so those of addresses that nobody has are to cost next to nothing. */
const BATCH = 100;
/** For a run, in which each request may lead to all accounts of a person; else the same ones would fail again each time. */
const RUN_MS = 60_000;
/** Accounts of one person that send a link, those of which they were a member first. In others they sign in with an API key. */
const ACCOUNTS = 20;
/**
 * Links of one membership that can be used at a time, and so mails in the quarter of an hour in which they count. What a stranger asks for
 * counts for their browser and network: it takes nothing from the member's, but of the last number, which ten networks use up. A higher one
 * would have more mail come from them, a lower one take fewer networks: nothing is known of where a member signs in.
 */
const AT_A_TIME = { ofBrowser: 3, ofNetwork: 4, ofAll: 40 };

/** What links by mail are built on. */
interface SendSignInMailsParts {
  database: Database;
  requests: Pick<SignInRequestStore, 'take'>;
  seal: Pick<SignInSeal, 'open'>;
  members: Pick<MemberStore, 'membershipsOf'>;
  links: Pick<SignInLinkStore, 'createForBrowser'>;
  outbox: Pick<MailOutbox, 'add'>;
  mint: SecretMint;
}

/**
 * Carries out requests for links by mail: finds out whose address it is, and has each of their accounts send a link. It runs apart from the
 * requests, so that the time of an answer says nothing of who is a member.
 */
export class SendSignInMailsLoop implements Loop {
  readonly name = 'send-sign-in-mails';
  readonly everyMs = 500;

  constructor(private readonly parts: SendSignInMailsParts) {}

  /** Requests and what comes of them go together. */
  async runOnce(report?: LoopReport): Promise<number> {
    return this.parts.database.transaction(async (tx) => {
      const requests = await this.parts.requests.take(tx, BATCH);
      const asked = requests.map((request) => this.opened(request, report));
      const emails = new Set(asked.flatMap((one) => one?.email ?? []));
      const memberships = await this.parts.members.membershipsOf(tx, [...emails], ACCOUNTS);
      for (const [at, request] of requests.entries()) {
        const one = asked[at] ?? null;
        for (const membership of memberships) {
          if (one?.email === membership.email) await this.sendLink(tx, request, one, membership);
        }
      }
      return requests.length;
    }, RUN_MS);
  }

  /** Null where nobody can open it any more, because its key has left the ring: it would keep the others waiting. */
  private opened({ id, sealed }: TakenSignInRequest, report: LoopReport | undefined): AskedSignIn | null {
    try {
      return this.parts.seal.open(id, sealed);
    } catch (error) {
      report?.failed(id, error);
      return null;
    }
  }

  private async sendLink(
    tx: Statements,
    { browserHash: browser, networkHash: network, leftSeconds }: TakenSignInRequest,
    { origin }: AskedSignIn,
    { email, accountId, accountName, apiKeyId }: Membership,
  ): Promise<void> {
    const { links, outbox, mint } = this.parts;
    const token = mint.make();
    const link = { accountId, apiKeyId, hash: hashOf(token), browser, network };
    if (!(await links.createForBrowser(tx, link, leftSeconds, AT_A_TIME))) return;
    const mail = signInMail(email, accountName, `${origin}/console/#link=${token}`);
    await outbox.add(tx, accountId, mail, leftSeconds);
  }
}
