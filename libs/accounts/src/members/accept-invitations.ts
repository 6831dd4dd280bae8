import { Refusal } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import type { AccountStore } from '../account.store';
import type { ApiKeyMint } from '../api-key-mint';
import type { ApiKeyStore } from '../api-key.store';
import type { AuditLog, Operator } from '../audit-log';
import type { FailedAttempts } from '../failed-attempts';
import type { SecretMint, SessionGrant, SignInOffer } from '../sessions';
import type { InvitationStore } from './invitation.store';
import { hashOf } from './link-hash';
import type { MemberStore } from './member.store';

/** The name of the key as which the sessions of a member act. */
const SESSION_KEY_NAME = 'Session of a member';

/** What becoming a member works with. */
interface AcceptParts {
  database: Database;
  accounts: Pick<AccountStore, 'lock'>;
  keys: Pick<ApiKeyStore, 'createSessionKey'>;
  members: Pick<MemberStore, 'insert'>;
  invitations: Pick<InvitationStore, 'look' | 'accountOf' | 'take'>;
  /** Knows which tokens were made here. */
  mint: SecretMint;
  keyMint: ApiKeyMint;
  audit: Pick<AuditLog, 'append'>;
  failures: Pick<FailedAttempts, 'refusal'>;
  keyEnvironment: string;
}

/** Becoming a member by the link of an invitation: what it offers, and its use. */
export class AcceptInvitations {
  constructor(private readonly parts: AcceptParts) {}

  /** Refuse what no service of ours made, before anything is looked up. @throws Refusal `unauthorized`, `rate_limited`. */
  assertMade(token: string, network: string): void {
    if (!this.parts.mint.made(token)) throw this.parts.failures.refusal(network, noInvitation().message);
  }

  /** Which member of which account an invitation makes: it still counts. @throws Refusal `unauthorized`, where `accept` does. */
  async look(token: string): Promise<SignInOffer> {
    const found = await this.parts.invitations.look(this.parts.database, hashOf(token));
    if (found === null) throw noInvitation();
    const { accountId: id, accountName: name, email, role } = found;
    return { account: { id, name }, member: { email, role }, askedHere: false };
  }

  /**
   * Use an invitation up, in the transaction that makes the session of the new member.
   *
   * @throws Refusal `unauthorized` when it was used, taken back or replaced, or has expired; `invalid_request` for who is a member already.
   */
  async accept(tx: Statements, operator: Operator, token: string): Promise<SessionGrant> {
    const { accounts, members, invitations, keys, keyMint, audit, keyEnvironment } = this.parts;
    // The account before the invitation, as who invites holds them.
    const accountId = await invitations.accountOf(tx, hashOf(token));
    if (accountId === null || !(await accounts.lock(tx, accountId))) throw noInvitation();
    const invitation = await invitations.take(tx, hashOf(token));
    if (invitation === null) throw noInvitation();
    const { email, role } = invitation;
    const memberId = await members.insert(tx, invitation);
    if (memberId === null) throw alreadyMember(email);
    const { hash, lastFour } = keyMint.make(keyEnvironment);
    const key = await keys.createSessionKey(tx, { accountId, memberId, name: SESSION_KEY_NAME, hash, lastFour });
    const act = { action: 'member.create', subjectType: 'member', subjectId: memberId, accountId };
    await audit.append(tx, operator, { ...act, details: { email, role, invitation: invitation.id } });
    return { accountId, apiKeyId: key };
  }
}

function noInvitation(): Refusal {
  return new Refusal('unauthorized', 'This invitation was used or taken back, or has expired; ask for a new one.');
}

function alreadyMember(email: string): Refusal {
  return new Refusal('invalid_request', `${email} is a member of this account already.`);
}
