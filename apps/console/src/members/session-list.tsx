import type { ReactNode } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { endOtherSessions, endSession, sessionsQuery, type ListedSession } from '../api/sessions';
import { Button } from '../ui/controls/button';
import { ErrorNote } from '../ui/display/error-note';
import { notify } from '../ui/display/notices';
import { Skeleton } from '../ui/display/skeleton';
import { Sign } from '../ui/display/status';
import { Ago } from '../ui/display/time';

/** Browsers that are signed in: of all for an owner, else one's own. */
export function SessionList(): ReactNode {
  const client = useQueryClient();
  const list = useQuery(sessionsQuery);
  const end = useMutation({
    mutationFn: ({ id }: ListedSession) => endSession(id),
    onSuccess: () => notify('The session has ended'),
    onSettled: () => client.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
  const endOthers = useMutation({
    mutationFn: endOtherSessions,
    onSuccess: () => notify('All other sessions have ended'),
    onSettled: () => client.invalidateQueries({ queryKey: sessionsQuery.queryKey }),
  });
  const sessions = list.data ?? [];
  return (
    <section className="panel" aria-labelledby="sessions">
      <div className="panel-head">
        <h2 id="sessions">Sessions</h2>
        {sessions.length > 1 && (
          <Button busy={endOthers.isPending} onClick={() => endOthers.mutate()}>
            End all others
          </Button>
        )}
      </div>
      {list.isError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
      {end.isError && <ErrorNote error={end.error} title="The session has not ended" />}
      {endOthers.isError && <ErrorNote error={endOthers.error} title="The other sessions have not ended" />}
      {list.isPending && <Skeleton lines={3} />}
      {sessions.length > 0 && (
        <div role="table" aria-labelledby="sessions">
          <div className="record member-row head" role="row">
            {['Who', 'Signed in', 'Ends'].map((name) => (
              <span key={name} role="columnheader">
                {name}
              </span>
            ))}
            <span role="columnheader">
              <span className="unseen">Actions</span>
            </span>
          </div>
          {sessions.map((session) => (
            <SessionRow
              key={session.id}
              session={session}
              busy={end.isPending && end.variables.id === session.id}
              onEnd={() => end.mutate(session)}
            />
          ))}
        </div>
      )}
    </section>
  );
}

function SessionRow(props: { session: ListedSession; busy: boolean; onEnd: () => void }): ReactNode {
  const { session, busy, onEnd } = props;
  const name = nameOf(session);
  return (
    <div className="record member-row" role="row">
      <span role="cell" className="tags member-name">
        <span className="clip" title={name}>
          {name}
        </span>
        {session.current && <Sign tone="busy">This session</Sign>}
      </span>
      <span role="cell" className="soft member-when" data-name="Signed in">
        <Ago at={session.created_at} />
      </span>
      <span role="cell" className="soft member-when" data-name="Ends">
        <Ago at={session.expires_at} />
      </span>
      <span role="cell" className="record-acts">
        {!session.current && (
          <Button kind="danger" aria-label={`End the session of ${name}`} busy={busy} onClick={onEnd}>
            End
          </Button>
        )}
      </span>
    </div>
  );
}

function nameOf({ member, key }: ListedSession): string {
  if (member === null) return key === null ? 'Self-hosted' : `Key ${key.name}`;
  return key === null ? member.email : `${member.email}, key ${key.name}`;
}
