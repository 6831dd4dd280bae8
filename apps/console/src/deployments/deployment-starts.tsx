import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { deploymentStartsQuery, type StartPhases } from '../api/deployments';
import { ErrorNote } from '../ui/display/error-note';
import { formatDuration } from '../ui/format';
import { Skeleton } from '../ui/display/skeleton';

/** The phases of a start, in order, as people call them. */
const PHASES: readonly [keyof StartPhases, string][] = [
  ['schedule_ms', 'Machine'],
  ['pull_ms', 'Images'],
  ['boot_ms', 'Boot'],
  ['models_ms', 'Models'],
  ['warm_up_ms', 'Warm-up'],
  ['total_ms', 'All together'],
];

/** What the starts of its workers took, by phase: read when somebody opens it. */
export function DeploymentStarts({ id }: { id: string }): ReactNode {
  const [open, setOpen] = useState(false);
  return (
    <details className="deployment-starts" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>How long its workers take to start</summary>
      {open && <Phases id={id} />}
    </details>
  );
}

function Phases({ id }: { id: string }): ReactNode {
  const { data, error, isError, isPending, refetch } = useQuery(deploymentStartsQuery(id));
  if (isError) return <ErrorNote error={error} onRetry={() => refetch()} />;
  if (isPending) return <Skeleton lines={2} />;
  const [latest] = data.starts;
  if (data.typical === null || latest === undefined)
    return <p className="soft">None of its workers has started yet.</p>;
  const { typical } = data;
  const had = PHASES.filter(([phase]) => typical[phase] !== null);
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Phase</th>
          <th scope="col" className="number">
            Typical
          </th>
          <th scope="col" className="number">
            Latest
          </th>
        </tr>
      </thead>
      <tbody>
        {had.map(([phase, name]) => (
          <tr key={phase}>
            <th scope="row">{name}</th>
            <td className="number">{durationOf(typical[phase])}</td>
            <td className="number">{durationOf(latest[phase])}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** A phase that there was not has no time. */
function durationOf(ms: number | null): string {
  return ms === null ? '–' : formatDuration(ms);
}
