import { Refusal, isOwners, type MemberRole, type Scope } from '@millrace/contracts';
import type { Database } from '@millrace/database';
import type { AccountStore } from '../account.store';
import { noAccount } from '../accounts.service';
import type { Act, AuditLog, Operator } from '../audit-log';
import type { Member, MemberStore } from './member.store';

/** Who decides about members: only who may do everything. */
export interface Owner extends Operator {
  scopes: ReadonlySet<Scope>;
}

/** The people of accounts. Every act is in the audit log. */
export class MembersService {
  constructor(
    private readonly database: Database,
    private readonly accounts: AccountStore,
    private readonly members: MemberStore,
    private readonly audit: AuditLog,
    /** Called after a change has committed: what this process has cached of keys and sessions may be wrong now. */
    private readonly onChange: () => void,
  ) {}

  /** Newest first. */
  async list(accountId: string): Promise<Member[]> {
    return this.members.list(this.database, accountId);
  }

  /**
   * Give a member another role, or none where none is named. It holds at once for their sessions and keys.
   *
   * @throws Refusal `forbidden` for who is no owner, `not_found`, `invalid_request` for the last owner.
   */
  async changeRole(owner: Owner, accountId: string, id: string, asked: MemberRole | undefined): Promise<Member> {
    assertOwner(owner);
    const changed = await this.audit.record(owner, async (tx, note) => {
      if (!(await this.accounts.lock(tx, accountId))) throw noAccount(accountId);
      const member = await this.members.find(tx, accountId, id);
      if (member === null) throw noMember(id);
      const role = asked ?? member.role;
      if (!(await this.members.changeRole(tx, member, role))) throw lastOwner();
      note({ ...actOn(member, 'member.update'), details: { from: member.role, to: role } });
      return { ...member, role };
    });
    this.onChange();
    return changed;
  }

  /**
   * Remove a member: their sessions and keys end with them.
   *
   * @throws Refusal `forbidden` for who is no owner, `not_found`, `invalid_request` for the last owner.
   */
  async remove(owner: Owner, accountId: string, id: string): Promise<void> {
    assertOwner(owner);
    await this.audit.record(owner, async (tx, note) => {
      if (!(await this.accounts.lock(tx, accountId))) throw noAccount(accountId);
      const member = await this.members.find(tx, accountId, id);
      if (member === null) throw noMember(id);
      const keys = await this.members.remove(tx, member);
      if (keys === null) throw lastOwner();
      note({ ...actOn(member, 'member.remove'), details: { email: member.email, role: member.role, keys } });
    });
    this.onChange();
  }
}

/** @throws Refusal `forbidden`. */
export function assertOwner({ scopes }: Pick<Owner, 'scopes'>): void {
  if (isOwners(scopes)) return;
  const message = 'Only an owner, or an API key with all scopes, decides about members; ask an owner of the account.';
  throw new Refusal('forbidden', message);
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
