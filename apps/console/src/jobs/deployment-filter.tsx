import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { deploymentsQuery } from '../api/deployments';

interface DeploymentFilterProps {
  value: string | undefined;
  onChange: (deployment: string | undefined) => void;
}

/** Chooses whose jobs or batches a list shows: a deployment's, or those of the account's own surface. Nothing where there are no deployments. */
export function DeploymentFilter({ value, onChange }: DeploymentFilterProps): ReactNode {
  const deployments = useQuery(deploymentsQuery).data ?? [];
  if (deployments.length === 0) return null;
  return (
    <select
      className="input"
      aria-label="Deployment"
      value={value ?? ''}
      onChange={(event) => onChange(event.target.value || undefined)}
    >
      <option value="">Without a deployment</option>
      {deployments.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}
