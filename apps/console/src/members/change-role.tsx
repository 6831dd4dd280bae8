import { useState, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { changeRole, membersQuery, type Member } from '../api/members';
import { sessionQuery } from '../api/session';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Modal } from '../ui/controls/modal';
import { Caution } from '../ui/display/caution';
import { ErrorNote } from '../ui/display/error-note';
import { notify } from '../ui/display/notices';
import { RoleField } from './role-field';

/** Gives a member another role; who lowers their own sees less at once. */
export function ChangeRole({ member, onClose }: { member: Member; onClose: () => void }): ReactNode {
  const [role, setRole] = useState(member.role);
  const session = useSession();
  const isOwn = session.member?.id === member.id;
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: () => changeRole(member.id, role),
    onSuccess: async () => {
      notify(`${member.email} is ${role} now`);
      onClose();
      if (isOwn) await client.invalidateQueries({ queryKey: sessionQuery.queryKey });
      await client.invalidateQueries({ queryKey: membersQuery.queryKey });
    },
  });
  return (
    <Modal
      title={`The role of ${member.email}`}
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            kind="primary"
            busy={change.isPending}
            disabled={role === member.role}
            onClick={() => change.mutate()}
          >
            Change the role
          </Button>
        </>
      }
    >
      <p className="soft">It holds everywhere within 5 seconds, for their sessions and their API keys.</p>
      <RoleField role={role} onRole={setRole} />
      {isOwn && role !== 'owner' && <Caution>This is your own role: only another owner can give it back.</Caution>}
      {change.isError && <ErrorNote error={change.error} title="The role was not changed" />}
    </Modal>
  );
}
