import type { Database, Statements } from '@millrace/database';
import type { MailOutbox } from '@millrace/mail';
import type { Loop, LoopReport } from '@millrace/platform';
import type { SecretMint, SignInLinkStore } from '../sessions';
import { hashOf } from './invitations.service';
import { signInMail } from './mails';
import type { MemberStore } from './member.store';
import type { SignInRequest, SignInRequestStore } from './sign-in-request.store';
import type { AskedSignIn, SignInSeal } from './sign-in-seal';

/** Requests of one run. */
const BATCH = 100;
/** Accounts of one person to which a mail leads. */
const ACCOUNTS = 20;
/**
 * Links of one membership that can be used at a time, and so mails in the quarter of an hour in which they count. What a stranger asks for
 * counts for their browser and network: it takes nothing from the member's, but of the last number.
 */
const AT_A_TIME = { ofBrowser: 3, ofNetwork: 6, ofAll: 60 };

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

  async runOnce(report?: LoopReport): Promise<number> {
    for (let done = 0; done < BATCH; done += 1) {
      if (!(await this.parts.database.transaction((tx) => this.carryOutOne(tx, report)))) return done;
    }
    return BATCH;
  }

  /** A request and what comes of it go together. @returns false when there is none. */
  private async carryOutOne(tx: Statements, report: LoopReport | undefined): Promise<boolean> {
    const request = await this.parts.requests.take(tx);
    if (request === null) return false;
    const asked = this.opened(request, report);
    const memberships = asked === null ? [] : await this.parts.members.membershipsOf(tx, asked.email, ACCOUNTS);
    for (const membership of memberships) await this.sendLink(tx, request, asked as AskedSignIn, membership);
    return true;
  }

  /** Null where nobody can open it any more, because its key has left the ring: it would keep the others waiting. */
  private opened({ id, sealed }: SignInRequest, report: LoopReport | undefined): AskedSignIn | null {
    try {
      return this.parts.seal.open(id, sealed);
    } catch (error) {
      report?.failed(id, error);
      return null;
    }
  }

  private async sendLink(
    tx: Statements,
    { browserHash: browser, networkHash: network, leftSeconds }: SignInRequest & { leftSeconds: number },
    { email, origin }: AskedSignIn,
    { accountId, accountName, apiKeyId }: { accountId: string; accountName: string; apiKeyId: string },
  ): Promise<void> {
    const { links, outbox, mint } = this.parts;
    const token = mint.make();
    const link = { accountId, apiKeyId, hash: hashOf(token), browser, network };
    if (!(await links.createForBrowser(tx, link, leftSeconds, AT_A_TIME))) return;
    const mail = signInMail(email, accountName, `${origin}/console/#link=${token}`);
    await outbox.add(tx, accountId, mail, leftSeconds);
  }
}
