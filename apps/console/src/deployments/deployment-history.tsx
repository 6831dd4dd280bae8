import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { deploymentChangesQuery, type DeploymentChange } from '../api/deployment-versions';
import { ErrorNote } from '../ui/display/error-note';
import { Skeleton } from '../ui/display/skeleton';
import { Ago } from '../ui/display/time';

/** What each act is called. */
const ACTS: Record<string, string> = {
  'deployment.create': 'Created',
  'deployment.update': 'Changed',
  'deployment.start': 'Started',
  'deployment.stop': 'Stopped',
  'deployment.delete': 'Deletion asked for',
  'deployment.version_add': 'Version added',
  'deployment.version_weigh': 'Share changed',
  'deployment.version_end': 'Version ended',
  'deployment.rollback': 'Rolled back',
};

/** What was done to a deployment, the latest first: read when somebody opens it. */
export function DeploymentHistory({ id }: { id: string }): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <details className="deployment-more" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>History</summary>
      {open && <Changes id={id} />}
    </details>
  );
}

function Changes({ id }: { id: string }): ReactNode {
  const { data, error, isError, isPending, refetch } = useQuery({
    ...deploymentChangesQuery(id),
    refetchOnMount: 'always',
  });
  if (isError) return <ErrorNote error={error} onRetry={() => refetch()} />;
  if (isPending) return <Skeleton lines={3} />;
  return (
    <>
      <ol className="deployment-changes">
        {data.changes.map((change) => (
          <li key={change.id}>
            <Change change={change} />
          </li>
        ))}
      </ol>
      {data.next_cursor !== undefined && (
        <p className="small faint">Earlier changes: GET /platform/v1/deployments/{id}/changes</p>
      )}
    </>
  );
}

function Change({ change: { action, actor, at, details } }: { change: DeploymentChange }): ReactNode {
  const set = Object.entries(details).flatMap(([field, value]) => {
    const isUnset = value === null || (Array.isArray(value) && value.length === 0);
    if (isUnset && action === 'deployment.create') return [];
    return [`${field} ${typeof value === 'string' ? value : JSON.stringify(value)}`];
  });
  return (
    <>
      <p>
        <strong>{ACTS[action] ?? action}</strong> <span className="soft">by {actorOf(actor)}</span> <Ago at={at} />
      </p>
      {set.length > 0 && <p className="small mono">{set.join(', ')}</p>}
    </>
  );
}

/** `api_key:<id>` → `an API key`. */
function actorOf(actor: string): string {
  if (actor.startsWith('api_key:')) return 'an API key';
  return actor.startsWith('member:') ? 'a member' : 'an operator';
}
