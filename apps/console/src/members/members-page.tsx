import { useState, type ReactNode } from 'react';
import { isOwners } from '@millrace/contracts';
import { Page } from '../shell/page';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Icon } from '../ui/controls/icon';
import { InvitationList } from './invitation-list';
import { InviteMember } from './invite-member';
import { MemberList } from './member-list';
import { SessionList } from './session-list';
import './members.css';

/** The people of the account, who is invited, and which browsers are signed in. */
export function MembersPage(): ReactNode {
  const { key, may } = useSession();
  const [inviting, setInviting] = useState(false);
  const isOwner = isOwners(new Set(key.scopes));
  const invite = (
    <Button kind="primary" icon={<Icon name="plus" />} onClick={() => setInviting(true)}>
      Invite
    </Button>
  );
  return (
    <Page title="Members" actions={isOwner ? invite : undefined}>
      {may('keys:admin') ? (
        <>
          <MemberList isOwner={isOwner} />
          <InvitationList isOwner={isOwner} />
        </>
      ) : (
        key.id !== null && (
          <p className="soft">Owners and developers see who else is a member. Your own sessions are here.</p>
        )
      )}
      <SessionList />
      {inviting && <InviteMember onClose={() => setInviting(false)} />}
    </Page>
  );
}
