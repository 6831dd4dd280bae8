import type { ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { membersQuery, removeMember, type Member } from '../api/members';
import { sessionsQuery } from '../api/sessions';
import { useSession } from '../shell/session-context';
import { useForgetSession } from '../shell/use-sign-out';
import { Button } from '../ui/controls/button';
import { Modal } from '../ui/controls/modal';
import { Caution } from '../ui/display/caution';
import { ErrorNote } from '../ui/display/error-note';
import { notify } from '../ui/display/notices';

/** Ends a member, after asking: what ends with them, and whether that is this session. */
export function RemoveMember({ member, onClose }: { member: Member; onClose: () => void }): ReactNode {
  const isOwn = useSession().member?.id === member.id;
  const client = useQueryClient();
  const forgetSession = useForgetSession();
  const remove = useMutation({
    mutationFn: () => removeMember(member.id),
    onSuccess: async () => {
      notify(`${member.email} is removed`);
      onClose();
      if (isOwn) return forgetSession();
      await client.invalidateQueries({ queryKey: membersQuery.queryKey });
      await client.invalidateQueries({ queryKey: sessionsQuery.queryKey });
    },
  });
  return (
    <Modal
      title={`Remove ${member.email}?`}
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep the member</Button>
          <Button kind="danger" busy={remove.isPending} onClick={() => remove.mutate()}>
            {isOwn ? 'Remove me and sign out' : 'Remove the member'}
          </Button>
        </>
      }
    >
      <p className="soft">
        Their sessions and API keys are refused everywhere within 5 seconds, for good, with the keys that those made.
        Jobs go on.
      </p>
      {isOwn && <Caution>This is you: you are signed out.</Caution>}
      {remove.isError && <ErrorNote error={remove.error} title="The member was not removed" />}
    </Modal>
  );
}
