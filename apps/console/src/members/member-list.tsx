import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { membersQuery, type Member } from '../api/members';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { ErrorNote } from '../ui/display/error-note';
import { Skeleton } from '../ui/display/skeleton';
import { Sign } from '../ui/display/status';
import { Ago } from '../ui/display/time';
import { capital } from '../ui/format';
import { ChangeRole } from './change-role';
import { RemoveMember } from './remove-member';
import { ROLE_TEXTS } from './roles';

/** The dialog that is open. It belongs to the list: a row may leave it meanwhile. */
type Dialog = { act: 'change' | 'remove'; member: Member };

/** The people of the account, with what an owner can do about them. */
export function MemberList({ isOwner }: { isOwner: boolean }): ReactNode {
  const list = useQuery(membersQuery);
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const close = (): void => setDialog(null);
  const members = list.data ?? [];
  return (
    <section className="panel" aria-labelledby="members">
      <div className="panel-head">
        <h2 id="members">People</h2>
      </div>
      {list.isError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Skeleton lines={3} />}
      {list.isSuccess && members.length === 0 && (
        <p className="panel-text soft">
          Nobody yet: who has an API key of the account works with it. Invite people by mail, and each signs in as
          themselves; a key with all scopes counts as an owner.
        </p>
      )}
      {members.length > 0 && (
        <div role="table" aria-labelledby="members">
          <div className="record member-row head" role="row">
            {['Member', 'Role', 'Since'].map((name) => (
              <span key={name} role="columnheader">
                {name}
              </span>
            ))}
            <span role="columnheader">
              <span className="unseen">Actions</span>
            </span>
          </div>
          {members.map((member) => (
            <MemberRow key={member.id} member={member} isOwner={isOwner} onAct={(act) => setDialog({ act, member })} />
          ))}
        </div>
      )}
      {dialog?.act === 'change' && <ChangeRole member={dialog.member} onClose={close} />}
      {dialog?.act === 'remove' && <RemoveMember member={dialog.member} onClose={close} />}
    </section>
  );
}

interface MemberRowProps {
  member: Member;
  isOwner: boolean;
  onAct: (act: Dialog['act']) => void;
}

function MemberRow({ member: { id, email, role, created_at: since }, isOwner, onAct }: MemberRowProps): ReactNode {
  const isOwn = useSession().member?.id === id;
  return (
    <div className="record member-row" role="row">
      <span role="cell" className="tags member-name">
        <span className="clip" title={email}>
          {email}
        </span>
        {isOwn && <Sign tone="busy">You</Sign>}
      </span>
      <span role="cell" className="member-role">
        {capital(role)}
        <span className="small faint">{ROLE_TEXTS[role]}</span>
      </span>
      <span role="cell" className="soft member-when" data-name="Since">
        <Ago at={since} />
      </span>
      <span role="cell" className="record-acts">
        {isOwner && (
          <>
            <Button kind="quiet" aria-label={`Change the role of ${email}`} onClick={() => onAct('change')}>
              Change role
            </Button>
            <Button kind="danger" aria-label={`Remove ${email}`} onClick={() => onAct('remove')}>
              Remove
            </Button>
          </>
        )}
      </span>
    </div>
  );
}
