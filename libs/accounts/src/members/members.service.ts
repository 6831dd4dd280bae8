import { Refusal, type MemberRole } from '@millrace/contracts';
import type { Database } from '@millrace/database';
import type { Act, AuditLog } from '../audit-log';
import type { Owner, OwnerRights } from '../owner-rights';
import type { InvitationStore } from './invitation.store';
import type { Member, MemberStore } from './member.store';

/** The people of accounts. Every act is in the audit log. */
export class MembersService {
  constructor(
    private readonly database: Database,
    private readonly owners: Pick<OwnerRights, 'hold'>,
    private readonly members: MemberStore,
    private readonly invitations: Pick<InvitationStore, 'deleteOfMember'>,
    private readonly audit: AuditLog,
    /** Called after a change has committed: what this process has cached of keys and sessions may be wrong now. */
    private readonly onChange: () => void,
  ) {}

  /** Newest first. */
  async list(accountId: string): Promise<Member[]> {
    return this.members.list(this.database, accountId);
  }

  /**
   * Give a member another role, or none where none is named. It holds at once for their sessions and keys. Who is an owner no more has
   * invited nobody: open invitations of theirs end.
   *
   * @throws Refusal `unauthorized` or `forbidden` for who is no owner now, `not_found`, `invalid_request` for the last owner.
   */
  async changeRole(owner: Owner, accountId: string, id: string, asked: MemberRole | undefined): Promise<Member> {
    const changed = await this.audit.record(owner, async (tx, note) => {
      await this.owners.hold(tx, accountId, owner);
      const member = await this.members.find(tx, accountId, id);
      if (member === null) throw noMember(id);
      const role = asked ?? member.role;
      if (!(await this.members.changeRole(tx, member, role))) throw lastOwner();
      const invitations = role === 'owner' ? [] : await this.invitations.deleteOfMember(tx, member);
      note({ ...actOn(member, 'member.update'), details: { from: member.role, to: role, invitations } });
      return { ...member, role };
    });
    this.onChange();
    return changed;
  }

  /**
   * Remove a member: their sessions, keys and open invitations end with them.
   *
   * @throws Refusal `unauthorized` or `forbidden` for who is no owner now, `not_found`, `invalid_request` for the last owner.
   */
  async remove(owner: Owner, accountId: string, id: string): Promise<void> {
    await this.audit.record(owner, async (tx, note) => {
      await this.owners.hold(tx, accountId, owner);
      const member = await this.members.find(tx, accountId, id);
      if (member === null) throw noMember(id);
      const keys = await this.members.remove(tx, member);
      if (keys === null) throw lastOwner();
      const invitations = await this.invitations.deleteOfMember(tx, member);
      const details = { email: member.email, role: member.role, keys, invitations };
      note({ ...actOn(member, 'member.remove'), details });
    });
    this.onChange();
  }
}

function actOn(member: Member, action: string): Act {
  return { action, subjectType: 'member', subjectId: member.id, accountId: member.accountId };
}

function noMember(id: string): Refusal {
  return new Refusal('not_found', `There is no member ${id} of this account.`);
}

function lastOwner(): Refusal {
  return new Refusal('invalid_request', 'This is the last owner of the account; make somebody else an owner first.');
}
