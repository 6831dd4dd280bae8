import type { ReactNode } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { invitationsQuery, withdrawInvitation, type Invitation } from '../api/members';
import { Button } from '../ui/controls/button';
import { ErrorNote } from '../ui/display/error-note';
import { notify } from '../ui/display/notices';
import { Ago } from '../ui/display/time';
import { capital } from '../ui/format';

/** Who was invited and has not answered yet; nothing where that is nobody. */
export function InvitationList({ isOwner }: { isOwner: boolean }): ReactNode {
  const client = useQueryClient();
  const list = useQuery(invitationsQuery);
  const withdraw = useMutation({
    mutationFn: ({ id }: Invitation) => withdrawInvitation(id),
    onSuccess: (_nothing, { email }) => notify(`The invitation of ${email} is taken back`),
    onSettled: () => client.invalidateQueries({ queryKey: invitationsQuery.queryKey }),
  });
  const invitations = list.data ?? [];
  if (invitations.length === 0 && !list.isError && !withdraw.isError) return null;
  return (
    <section className="panel" aria-labelledby="invitations">
      <div className="panel-head">
        <h2 id="invitations">Invitations</h2>
      </div>
      {list.isError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
      {withdraw.isError && <ErrorNote error={withdraw.error} title="The invitation was not taken back" />}
      {invitations.length > 0 && (
        <div role="table" aria-labelledby="invitations">
          <div className="record member-row head" role="row">
            {['Invited', 'Role', 'Link ends'].map((name) => (
              <span key={name} role="columnheader">
                {name}
              </span>
            ))}
            <span role="columnheader">
              <span className="unseen">Actions</span>
            </span>
          </div>
          {invitations.map((invitation) => (
            <div key={invitation.id} className="record member-row" role="row">
              <span role="cell" className="clip member-name" title={invitation.email}>
                {invitation.email}
              </span>
              <span role="cell">{capital(invitation.role)}</span>
              <span role="cell" className="soft member-when" data-name="Link ends">
                <Ago at={invitation.expires_at} />
              </span>
              <span role="cell" className="record-acts">
                {isOwner && (
                  <Button
                    kind="danger"
                    aria-label={`Take back the invitation of ${invitation.email}`}
                    busy={withdraw.isPending && withdraw.variables.id === invitation.id}
                    onClick={() => withdraw.mutate(invitation)}
                  >
                    Take back
                  </Button>
                )}
              </span>
            </div>
          ))}
        </div>
      )}
    </section>
  );
}
