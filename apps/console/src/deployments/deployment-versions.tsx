import { useState, type ReactNode } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { deploymentsQuery, type Deployment } from '../api/deployments';
import {
  deploymentVersionsQuery,
  endVersion,
  rollBack,
  weighVersion,
  type DeploymentVersion,
} from '../api/deployment-versions';
import { Button } from '../ui/controls/button';
import { Icon } from '../ui/controls/icon';
import { ErrorNote } from '../ui/display/error-note';
import { notifyError } from '../ui/display/notices';
import { Skeleton } from '../ui/display/skeleton';
import { DeploymentStateSign } from '../ui/display/status';
import { formatCredits, formatDuration } from '../ui/format';
import { NewVersion } from './new-version';

interface DeploymentVersionsProps {
  deployment: Deployment;
  mayWrite: boolean;
}

/** The versions of a deployment side by side, and what can be done with them: read when somebody opens it. */
export function DeploymentVersions(props: DeploymentVersionsProps): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <details className="deployment-more" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Versions</summary>
      {open && <Versions {...props} />}
    </details>
  );
}

function Versions({ deployment, mayWrite }: DeploymentVersionsProps): ReactNode {
  const { data, error, isError, isPending, refetch } = useQuery(deploymentVersionsQuery(deployment.id));
  if (isError) return <ErrorNote error={error} onRetry={() => refetch()} />;
  if (isPending) return <Skeleton lines={3} />;
  const live = data.filter((version) => version.live);
  return (
    <>
      <div className="version-list">
        {live.map((version) => (
          <Version key={version.version} version={version} />
        ))}
      </div>
      {live.length < data.length && (
        <p className="small faint">
          Ended: {data.flatMap((one) => (one.live ? [] : [`${one.version} (${one.engine_class})`])).join(', ')}
        </p>
      )}
      {mayWrite && deployment.deleting_at === null && <Actions deployment={deployment} live={live} />}
    </>
  );
}

function Version({ version }: { version: DeploymentVersion }): ReactNode {
  const { latest_jobs: jobs } = version;
  return (
    <section className="version" aria-label={`Version ${version.version}`}>
      <p>
        <strong>Version {version.version}</strong> <span className="mono small">{version.engine_class}</span>{' '}
        <span className="number">{version.weight} % of the jobs</span>
        {version.state !== null && <DeploymentStateSign state={version.state} />}
      </p>
      {version.state_reason !== null && <p className="small soft">{version.state_reason}</p>}
      <p className="small soft">
        {describeJobs(jobs)}
        {jobs.median_engine_ms !== null &&
          ` Typical: ${formatDuration(jobs.median_engine_ms)}, ${formatCredits(jobs.median_charged_micros ?? 0)} credits.`}
      </p>
    </section>
  );
}

/** `Latest jobs: 11 succeeded, 1 failed, 2 canceled or expired.` */
function describeJobs({ ended, succeeded, failed }: DeploymentVersion['latest_jobs']): string {
  if (ended === 0) return 'None of the latest jobs ended on it.';
  const others = ended - succeeded - failed;
  return `Latest jobs: ${succeeded} succeeded, ${failed} failed${others === 0 ? '' : `, ${others} canceled or expired`}.`;
}

/** One version: another can be tried. Two: their shares can be changed, and one can go. */
function Actions({ deployment, live }: { deployment: Deployment; live: DeploymentVersion[] }): ReactNode {
  const [adding, setAdding] = useState(false);
  const [newer, older] = live;
  if (newer === undefined) return null;
  if (older !== undefined) return <Shares id={deployment.id} newer={newer} older={older} />;
  return (
    <div className="version-actions">
      <Button icon={<Icon name="plus" />} onClick={() => setAdding(true)}>
        Try another version
      </Button>
      {adding && <NewVersion deployment={deployment} onClose={() => setAdding(false)} />}
    </div>
  );
}

type Act = { kind: 'weigh'; weight: number } | { kind: 'roll_back' } | { kind: 'end'; version: number };

function Shares({ id, newer, older }: { id: string; newer: DeploymentVersion; older: DeploymentVersion }): ReactNode {
  const client = useQueryClient();
  // Null: nobody moved it, and it follows what is read.
  const [moved, setMoved] = useState<number | null>(null);
  const weight = moved ?? newer.weight;
  const act = useMutation({
    mutationFn: (what: Act) => {
      if (what.kind === 'weigh') return weighVersion(id, newer.version, what.weight);
      return what.kind === 'end' ? endVersion(id, what.version) : rollBack(id);
    },
    onSuccess: (versions) => {
      client.setQueryData(deploymentVersionsQuery(id).queryKey, versions);
      setMoved(null);
    },
    onError: (error) => notifyError('The versions stay as they are', error),
    onSettled: () => client.invalidateQueries({ queryKey: deploymentsQuery.queryKey, exact: true }),
  });
  return (
    <div className="version-actions">
      <label>
        Share of version {newer.version}: <output className="number">{weight} %</output>
        <input
          type="range"
          min={0}
          max={100}
          step={5}
          value={weight}
          onChange={(event) => setMoved(event.target.valueAsNumber)}
        />
      </label>
      <Button
        busy={act.isPending}
        disabled={weight === newer.weight}
        onClick={() => act.mutate({ kind: 'weigh', weight })}
      >
        Set the share
      </Button>
      <Button
        icon={<Icon name="again" />}
        busy={act.isPending}
        disabled={newer.weight === 0}
        onClick={() => act.mutate({ kind: 'roll_back' })}
      >
        Roll back to version {older.version}
      </Button>
      {[newer, older].map(({ version }) => (
        <Button key={version} kind="danger" busy={act.isPending} onClick={() => act.mutate({ kind: 'end', version })}>
          End version {version}
        </Button>
      ))}
    </div>
  );
}
