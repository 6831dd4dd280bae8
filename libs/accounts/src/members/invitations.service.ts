import { Refusal, type MemberRole } from '@millrace/contracts';
import type { Database, Statements } from '@millrace/database';
import type { MailOutbox } from '@millrace/mail';
import type { AccountStore } from '../account.store';
import type { AuditLog } from '../audit-log';
import type { Owner, OwnerRights } from '../owner-rights';
import type { SecretMint } from '../sessions';
import type { Invitation, InvitationStore } from './invitation.store';
import type { InvitationMailLimits } from './invitation-mail-limits';
import { hashOf } from './link-hash';
import { invitationMail } from './mails';
import type { MemberStore } from './member.store';

const DAY_SECONDS = 86_400;
const INVITATION_SECONDS = 7 * DAY_SECONDS;
/** What a mail server did not take by then, nobody waits for. */
const MAIL_SECONDS = DAY_SECONDS;
/** Of one account: open invitations, and these with its members. */
const INVITATIONS_PER_ACCOUNT = 100;
const PEOPLE_PER_ACCOUNT = 500;

/** What invitations are built on. */
interface InvitationParts {
  database: Database;
  accounts: AccountStore;
  owners: Pick<OwnerRights, 'hold'>;
  members: MemberStore;
  invitations: InvitationStore;
  mailLimits: InvitationMailLimits;
  outbox: MailOutbox;
  mint: SecretMint;
  audit: AuditLog;
}

/** Asking people to become members of an account, by mail, and taking that back. Every act is in the audit log. */
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
    const { accounts, owners, members, invitations, mailLimits, outbox, mint, audit } = this.parts;
    if (!outbox.isOpen) throw noMail();
    const email = address.toLowerCase();
    const token = mint.make();
    return audit.record(owner, async (tx, note) => {
      await owners.hold(tx, accountId, owner);
      const name = (await accounts.find(tx, accountId))?.name ?? '';
      if (await members.isMember(tx, accountId, email)) {
        throw Refusal.ofFields([{ field: 'email', reason: 'is that of a member of this account already' }]);
      }
      await mailLimits.count(tx, accountId, email);
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

function noMail(): Refusal {
  const message =
    'This service sends no mail, so that nobody can be invited; its operator sets MILLRACE_MAIL_SMTP_URL.';
  return new Refusal('invalid_request', message);
}
