import { useId, type ReactNode } from 'react';
import type { Deployment } from '../api/deployments';
import { pathOf } from '../api/models';
import { CopyButton } from '../ui/controls/copy-button';
import { formatDuration, formatPrice } from '../ui/format';
import { DeploymentStateSign } from '../ui/display/status';
import { DeploymentActions } from './deployment-actions';
import { DeploymentHistory } from './deployment-history';
import { DeploymentStarts } from './deployment-starts';
import { DeploymentVersions } from './deployment-versions';

/** One deployment: its state and why, what it runs on, where it is reached, and what can be done with it. */
export function DeploymentCard({ deployment, mayWrite }: { deployment: Deployment; mayWrite: boolean }): ReactNode {
  const { name, state, state_reason: reason, path, host, deleting_at } = deployment;
  const id = useId();
  const draining = deleting_at !== null;
  return (
    <article className="panel deployment" aria-labelledby={id}>
      <div className="panel-head">
        <h2 id={id} className="clip" title={name}>
          {name}
        </h2>
        <DeploymentStateSign state={draining ? 'draining' : state} />
      </div>
      <div className="deployment-body">
        {draining && <p className="soft">It takes no more jobs, and is deleted when those that it has are over.</p>}
        {reason !== null && <p className="deployment-reason">{reason}</p>}
        <Facts deployment={deployment} />
        <Models models={deployment.models} />
        <DeploymentVersions deployment={deployment} mayWrite={mayWrite} />
        <DeploymentStarts id={deployment.id} />
        <DeploymentHistory id={deployment.id} />
        <Address label="path" text={`${path}/api/v2`} />
        {host !== null && <Address label="host" text={host} />}
      </div>
      <DeploymentActions deployment={deployment} mayWrite={mayWrite} />
    </article>
  );
}

function Facts({ deployment }: { deployment: Deployment }): ReactNode {
  const { engine_class, ready_workers, min_workers, max_workers, idle_seconds, price_micros_per_second } = deployment;
  const range = min_workers === max_workers ? String(max_workers) : `${min_workers}–${max_workers}`;
  return (
    <dl className="deployment-facts">
      <div>
        <dt>Workers ready</dt>
        <dd className="number">
          {ready_workers} of {range}
        </dd>
      </div>
      <div>
        <dt>Engine class</dt>
        <dd className="mono">{engine_class}</dd>
      </div>
      <div>
        <dt>Engine time</dt>
        <dd className="number">{formatPrice(price_micros_per_second)}</dd>
      </div>
      <div>
        <dt>Idle workers stay</dt>
        <dd className="number">{formatDuration(idle_seconds * 1_000)}</dd>
      </div>
    </dl>
  );
}

/** What its workers have of the library before they are ready. */
function Models({ models }: Pick<Deployment, 'models'>): ReactNode {
  if (models.length === 0) return null;
  return (
    <details className="deployment-models">
      <summary>Models from the start: {models.length}</summary>
      <ul>
        {models.map((model) => (
          <li key={pathOf(model)} className="mono small">
            {pathOf(model)}
          </li>
        ))}
      </ul>
    </details>
  );
}

function Address({ label, text }: { label: 'path' | 'host'; text: string }): ReactNode {
  return (
    <div className="deployment-address">
      <code className="clip" title={text}>
        {text}
      </code>
      <CopyButton text={text} label={`Copy the ${label}`} />
    </div>
  );
}
