import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { MemberRole } from '@millrace/contracts';
import { invitationsQuery, invite } from '../api/members';
import { Button } from '../ui/controls/button';
import { Field } from '../ui/controls/field';
import { Modal } from '../ui/controls/modal';
import { ErrorNote } from '../ui/display/error-note';
import { notify } from '../ui/display/notices';
import { RoleField } from './role-field';

/** Asks somebody by mail to become a member. */
export function InviteMember({ onClose }: { onClose: () => void }): ReactNode {
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<MemberRole>('developer');
  const formId = useId();
  const client = useQueryClient();
  const send = useMutation({
    mutationFn: invite,
    onSuccess: (invitation) => {
      notify(`A mail to ${invitation.email} is on its way`);
      onClose();
      return client.invalidateQueries({ queryKey: invitationsQuery.queryKey });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    send.mutate({ email: email.trim(), role });
  };
  return (
    <Modal
      title="Invite somebody"
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={formId} busy={send.isPending} disabled={email.trim() === ''}>
            Send the invitation
          </Button>
        </>
      }
    >
      <form id={formId} className="fields" onSubmit={submit}>
        <Field
          label="E-mail address"
          note="The mail has a link that counts once, for 7 days. Another invitation of the same address replaces it."
        >
          {(ids) => (
            <input
              {...ids}
              className="input"
              type="email"
              autoComplete="off"
              value={email}
              onChange={(event) => setEmail(event.target.value)}
              autoFocus
              required
            />
          )}
        </Field>
        <RoleField role={role} onRole={setRole} />
        {send.isError && <ErrorNote error={send.error} title="Nobody was invited" />}
      </form>
    </Modal>
  );
}
