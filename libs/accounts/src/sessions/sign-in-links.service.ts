import { createHash } from 'node:crypto';
import { Refusal } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import type { AccountsService } from '../accounts.service';
import { issuerOf, type ApiKeysService } from '../api-keys.service';
import { apiKeyState } from '../api-key-record';
import type { AuditLog, Operator, RefusalLog } from '../audit-log';
import type { FailedAttempts } from '../failed-attempts';
import type { SessionGrant, SignInOffer } from './console-session';
import type { SecretMint } from './secret-mint';
import type { SignInLinkStore } from './sign-in-link.store';

const LINK_LIFE_SECONDS = 900;
/** Of the key that a link brings with it. */
const KEY_NAME = 'Console';

/** A link just made. */
export interface SignInLink {
  /** Part of the address, behind its `#`: shown now and never again. */
  token: string;
  expiresAt: Date;
}

/** Links by which an operator has a browser signed in to the console, once. */
export class SignInLinksService {
  constructor(
    private readonly database: Database,
    private readonly links: SignInLinkStore,
    private readonly accounts: AccountsService,
    private readonly keys: ApiKeysService,
    private readonly mint: SecretMint,
    private readonly audit: AuditLog,
    private readonly failures: FailedAttempts,
    private readonly sessionLifeSeconds: number,
    private readonly refusals: Pick<RefusalLog, 'note'>,
  ) {}

  /**
   * Make a link to the console of an account.
   *
   * @param keyId the key as which its session acts. Undefined: a new key with all scopes, which nobody sees and which ends with
   * the session; on the account of a self-hosted surface none.
   * @throws Refusal `not_found` when there is no such account or no such key that works; what issuing a key throws.
   */
  async create(operator: Operator, accountId: string, keyId: string | undefined): Promise<SignInLink> {
    const grant = { accountId, apiKeyId: await this.keyOf(operator, accountId, keyId) };
    const token = this.mint.make();
    return this.audit.record(operator, async (tx, note) => {
      const { id, expiresAt } = await this.links.create(tx, grant, hashOf(token), LINK_LIFE_SECONDS);
      const details = { apiKeyId: grant.apiKeyId, expiresAt: expiresAt.toISOString() };
      note({ action: 'sign_in_link.create', subjectType: 'sign_in_link', subjectId: id, accountId, details });
      return { token, expiresAt };
    });
  }

  /** Refuse what no service of ours made, before anything is looked up. @throws Refusal `unauthorized`, `rate_limited`. */
  assertMade(token: string, network: string): void {
    if (!this.mint.made(token)) throw this.failures.refusal(network, noLink().message);
  }

  /**
   * Use a link up, in the transaction that makes its session. One that has expired, or is for another browser, is in the audit log.
   *
   * @param from the browser of who presents it, and its network.
   * @throws Refusal `unauthorized`.
   */
  async take(tx: Statements, token: string, from: { browser: Buffer | null; network: string }): Promise<SessionGrant> {
    const grant = await this.links.take(tx, hashOf(token), from.browser);
    if (grant !== null) return grant;
    throw await this.refused(tx, token, from.network);
  }

  /** What a link signs in to: it still counts. @param from as of `take`. @throws Refusal `unauthorized`, where `take` does. */
  async look(token: string, from: { browser: Buffer | null; network: string }): Promise<SignInOffer> {
    const offer = await this.links.look(this.database, hashOf(token), from.browser);
    if (offer !== null) return offer;
    throw await this.refused(this.database, token, from.network);
  }

  private async refused(tx: Statements, token: string, network: string): Promise<Refusal> {
    const link = await this.links.find(tx, hashOf(token));
    if (link !== null) {
      const { id: subjectId, accountId } = link;
      this.refusals.note({ action: 'sign_in_link.refuse', subjectType: 'sign_in_link', subjectId, accountId }, network);
    }
    return noLink();
  }

  private async keyOf(operator: Operator, accountId: string, keyId: string | undefined): Promise<string | null> {
    const { kind } = await this.accounts.getAccount(accountId);
    if (keyId !== undefined) return this.keyThatWorks(accountId, keyId);
    if (kind === 'self_hosted') return null;
    const expiresAt = new Date(Date.now() + (LINK_LIFE_SECONDS + this.sessionLifeSeconds) * 1_000);
    return (await this.keys.issue(issuerOf(operator), accountId, { name: KEY_NAME, expiresAt })).id;
  }

  private async keyThatWorks(accountId: string, keyId: string): Promise<string> {
    const key = (await this.keys.list(accountId)).find(({ id }) => id === keyId);
    if (key !== undefined && apiKeyState(key, new Date()) === 'live') return key.id;
    throw new Refusal('not_found', `There is no API key ${keyId} of this account that works.`);
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function noLink(): Refusal {
  return new Refusal(
    'unauthorized',
    'This sign-in link was used already, has expired, or is for another browser; ask for a new one.',
  );
}
