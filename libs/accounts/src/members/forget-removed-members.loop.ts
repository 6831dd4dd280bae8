import type { Statements } from '@millrace/database';
import type { Loop } from '@millrace/platform';
import type { MemberStore } from './member.store';

const BATCH = 500;
/** How long it can be looked up who somebody was that was removed: docs/operations.md says so. */
const KEPT_DAYS = 90;

/** Takes their addresses from members who were removed long ago. Their ids stay, which the audit log names. */
export class ForgetRemovedMembersLoop implements Loop {
  readonly name = 'forget-removed-members';
  readonly everyMs = 3_600_000;

  constructor(
    private readonly database: Statements,
    private readonly members: Pick<MemberStore, 'forgetRemoved'>,
  ) {}

  runOnce(): Promise<number> {
    return this.members.forgetRemoved(this.database, KEPT_DAYS, BATCH);
  }
}
