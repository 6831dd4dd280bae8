import { createHash } from 'node:crypto';
import { Refusal, type MemberRole } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import type { MailOutbox } from '@millrace/mail';
import type { Pseudonyms } from '@millrace/platform';
import type { AccountStore } from '../account.store';
import type { ApiKeyMint } from '../api-key-mint';
import type { ApiKeyStore } from '../api-key.store';
import type { AuditLog, Operator } from '../audit-log';
import type { FailedAttempts } from '../failed-attempts';
import type { Owner, OwnerRights } from '../owner-rights';
import type { SecretMint, SessionGrant, SignInOffer } from '../sessions';
import type { Invitation, InvitationStore } from './invitation.store';
import type { InvitationMailStore } from './invitation-mail.store';
import { invitationMail } from './mails';
import type { MemberStore } from './member.store';

const DAY_SECONDS = 86_400;
const INVITATION_SECONDS = 7 * DAY_SECONDS;
/** What a mail server did not take by then, nobody waits for. */
const MAIL_SECONDS = DAY_SECONDS;
/** Of one account: open invitations, and these with its members. */
const INVITATIONS_PER_ACCOUNT = 100;
const PEOPLE_PER_ACCOUNT = 500;
/** To one address of one account: who asks for a mail may be anyone, and who gets it did not ask. */
const PAUSE_SECONDS = 300;
const TO_AN_ADDRESS_PER_DAY = 10;
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
  mails: Pick<InvitationMailStore, 'insert' | 'waitSeconds'>;
  /** Of addresses to which mails went. */
  addresses: Pick<Pseudonyms, 'of'>;
  outbox: MailOutbox;
  mint: SecretMint;
  keyMint: ApiKeyMint;
  audit: AuditLog;
  failures: FailedAttempts;
  keyEnvironment: string;
  /** Mails that one account may have sent in a day. */
  mailsPerDay: number;
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
   * @throws Refusal `unauthorized` or `forbidden` for who is no owner now, `invalid_request` where no mail is sent, for a member, and beyond the
   * limits, `rate_limited` for too many mails, of the account or to the address.
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
      if (await members.isMember(tx, accountId, email)) {
        throw Refusal.ofFields([{ field: 'email', reason: 'is that of a member of this account already' }]);
      }
      await this.countMail(tx, accountId, email);
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

  /** Count a mail of the account to this address. The account's row is held. @throws Refusal `rate_limited`. */
  private async countMail(tx: Statements, accountId: string, email: string): Promise<void> {
    const { mails, addresses, mailsPerDay } = this.parts;
    const address = addresses.of(email);
    const paused = await mails.waitSeconds(tx, { accountId, address }, 1, PAUSE_SECONDS);
    if (paused > 0) throw tooSoon(email, paused);
    const ofAddress = await mails.waitSeconds(tx, { accountId, address }, TO_AN_ADDRESS_PER_DAY, DAY_SECONDS);
    if (ofAddress > 0) throw tooSoon(email, ofAddress);
    const ofAccount = await mails.waitSeconds(tx, { accountId }, mailsPerDay, DAY_SECONDS);
    if (ofAccount > 0) throw tooMany(mailsPerDay, ofAccount);
    await mails.insert(tx, { accountId, address });
  }

  /** The account's row is held, so that no other request counts meanwhile. @throws Refusal `invalid_request`. */
  private async assertRoom(tx: Statements, accountId: string): Promise<void> {
    const open = await this.parts.invitations.list(tx, accountId);
    if (open.length > INVITATIONS_PER_ACCOUNT) {
      const message = `This account has ${INVITATIONS_PER_ACCOUNT} open invitations, which is the limit; revoke one first.`;
      throw new Refusal('invalid_request', message);
    }
    if ((await this.parts.members.list(tx, accountId)).length + open.length <= PEOPLE_PER_ACCOUNT) return;
    const message = `This account has ${PEOPLE_PER_ACCOUNT} members and open invitations, which is the limit; remove or revoke one first.`;
    throw new Refusal('invalid_request', message);
  }
}

export function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

function noInvitation(): Refusal {
  return new Refusal('unauthorized', 'This invitation was used or taken back, or has expired; ask for a new one.');
}

function tooSoon(email: string, retryAfterSeconds: number): Refusal {
  const message = `${email} was sent an invitation a short time ago, or several today; wait ${retryAfterSeconds} s before the next one.`;
  return new Refusal('rate_limited', message, { retryAfterSeconds });
}

function tooMany(limit: number, retryAfterSeconds: number): Refusal {
  const message = `This account has sent ${limit} invitations in a day, which is the limit; wait ${retryAfterSeconds} s.`;
  return new Refusal('rate_limited', message, { retryAfterSeconds });
}

function alreadyMember(email: string): Refusal {
  return new Refusal('invalid_request', `${email} is a member of this account already.`);
}

function noMail(): Refusal {
  const message =
    'This service sends no mail, so that nobody can be invited; its operator sets MILLRACE_MAIL_SMTP_URL.';
  return new Refusal('invalid_request', message);
}
