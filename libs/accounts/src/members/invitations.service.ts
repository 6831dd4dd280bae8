import { createHash } from 'node:crypto';
import { Refusal, type MemberRole } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import type { MailOutbox } from '@millrace/mail';
import type { AccountStore } from '../account.store';
import type { ApiKeyMint } from '../api-key-mint';
import type { ApiKeyStore } from '../api-key.store';
import type { AuditLog, Operator } from '../audit-log';
import type { FailedAttempts } from '../failed-attempts';
import type { Owner, OwnerRights } from '../owner-rights';
import type { SecretMint, SessionGrant } from '../sessions';
import type { Invitation, InvitationStore } from './invitation.store';
import { invitationMail } from './mails';
import type { MemberStore } from './member.store';

const DAY_SECONDS = 86_400;
const INVITATION_SECONDS = 7 * DAY_SECONDS;
/** What a mail server did not take by then, nobody waits for. */
const MAIL_SECONDS = DAY_SECONDS;
/** Of one account: open invitations, and members. */
const INVITATIONS_PER_ACCOUNT = 100;
const MEMBERS_PER_ACCOUNT = 500;
/** The name of the key as which the sessions of a member act. */
const SESSION_KEY_NAME = 'Session of a member';

/** What invitations are built on. */
interface InvitationParts {
  database: Database;
  accounts: AccountStore;
  owners: Pick<OwnerRights, 'hold'>;
  keys: ApiKeyStore;
  members: MemberStore;
  invitations: InvitationStore;
  outbox: MailOutbox;
  mint: SecretMint;
  keyMint: ApiKeyMint;
  audit: AuditLog;
  failures: FailedAttempts;
  keyEnvironment: string;
}

/** Asking people to become members of an account, by mail. Every act is in the audit log. */
export class InvitationsService {
  constructor(private readonly parts: InvitationParts) {}

  /** Those that can still be accepted, newest first. */
  async list(accountId: string): Promise<Invitation[]> {
    return this.parts.invitations.list(this.parts.database, accountId);
  }

  /**
   * Invite somebody. Who was invited before gets a new link, and the old one counts no more.
   *
   * @param origin of the console to which the link leads.
   * @throws Refusal `unauthorized` or `forbidden` for who is no owner now, `invalid_request` where no mail is sent, for a member, and beyond the limits.
   */
  async invite(
    owner: Owner,
    accountId: string,
    { email: address, role }: { email: string; role: MemberRole },
    origin: string,
  ): Promise<Invitation> {
    const { accounts, owners, members, invitations, outbox, mint, audit } = this.parts;
    if (!outbox.isOpen) throw noMail();
    const email = address.toLowerCase();
    const token = mint.make();
    return audit.record(owner, async (tx, note) => {
      await owners.hold(tx, accountId, owner);
      const name = (await accounts.find(tx, accountId))?.name ?? '';
      if (await members.isMember(tx, accountId, email)) throw alreadyMember(email);
      const made = await invitations.put(tx, {
        accountId,
        email,
        role,
        hash: hashOf(token),
        invitedBy: owner.actor,
        lifeSeconds: INVITATION_SECONDS,
      });
      await this.assertRoom(tx, accountId);
      const url = `${origin}/console/#invitation=${token}`;
      await outbox.add(tx, accountId, invitationMail(made, name, url), MAIL_SECONDS);
      const act = { action: 'invitation.create', subjectType: 'invitation', subjectId: made.id, accountId };
      note({ ...act, details: { email, role, expiresAt: made.expiresAt.toISOString() } });
      return made;
    });
  }

  /** Take an invitation back. @throws Refusal `unauthorized` or `forbidden` for who is no owner now, `not_found`. */
  async revoke(owner: Owner, accountId: string, id: string): Promise<void> {
    await this.parts.audit.record(owner, async (tx, note) => {
      await this.parts.owners.hold(tx, accountId, owner);
      const gone = await this.parts.invitations.delete(tx, accountId, id);
      if (gone === null) throw new Refusal('not_found', `There is no invitation ${id} of this account.`);
      const act = { action: 'invitation.revoke', subjectType: 'invitation', subjectId: id, accountId };
      note({ ...act, details: { email: gone.email, role: gone.role } });
    });
  }

  /** Refuse what no service of ours made, before anything is looked up. @throws Refusal `unauthorized`, `rate_limited`. */
  assertMade(token: string, network: string): void {
    if (!this.parts.mint.made(token)) throw this.parts.failures.refusal(network, noInvitation().message);
  }

  /**
   * Use an invitation up, in the transaction that makes the session of the new member.
   *
   * @throws Refusal `unauthorized` when it was used, taken back or replaced, or has expired; `invalid_request` for who is a member already.
   */
  async accept(tx: Statements, operator: Operator, token: string): Promise<SessionGrant> {
    const { members, invitations, keys, keyMint, audit, keyEnvironment } = this.parts;
    const invitation = await invitations.take(tx, hashOf(token));
    if (invitation === null) throw noInvitation();
    const { accountId, email, role } = invitation;
    const memberId = await members.insert(tx, invitation);
    if (memberId === null) throw alreadyMember(email);
    const { hash, lastFour } = keyMint.make(keyEnvironment);
    const key = await keys.createSessionKey(tx, { accountId, memberId, name: SESSION_KEY_NAME, hash, lastFour });
    const act = { action: 'member.create', subjectType: 'member', subjectId: memberId, accountId };
    await audit.append(tx, operator, { ...act, details: { email, role, invitation: invitation.id } });
    return { accountId, apiKeyId: key };
  }

  /** The account's row is held, so that no other request counts meanwhile. @throws Refusal `invalid_request`. */
  private async assertRoom(tx: Statements, accountId: string): Promise<void> {
    const open = await this.parts.invitations.list(tx, accountId);
    if (open.length > INVITATIONS_PER_ACCOUNT) {
      const message = `This account has ${INVITATIONS_PER_ACCOUNT} open invitations, which is the limit; revoke one first.`;
      throw new Refusal('invalid_request', message);
    }
    if ((await this.parts.members.list(tx, accountId)).length + open.length <= MEMBERS_PER_ACCOUNT) return;
    const message = `This account has ${MEMBERS_PER_ACCOUNT} members, which is the limit; remove one first.`;
    throw new Refusal('invalid_request', message);
  }
}

export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function noInvitation(): Refusal {
  return new Refusal('unauthorized', 'This invitation was used or taken back, or has expired; ask for a new one.');
}

function alreadyMember(email: string): Refusal {
  return new Refusal('invalid_request', `${email} is a member of this account already.`);
}

function noMail(): Refusal {
  const message =
    'This service sends no mail, so that nobody can be invited; its operator sets MILLRACE_MAIL_SMTP_URL.';
  return new Refusal('invalid_request', message);
}
