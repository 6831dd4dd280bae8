import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import type { UsageGroup, UsageReport } from '../api/credits';
import { apiKeysQuery } from '../api/api-keys';
import { deploymentsQuery } from '../api/deployments';
import { useSession } from '../shell/session-context';
import { Bar } from '../ui/display/bar';
import { formatCredits, formatDuration, shortId } from '../ui/format';
import { formatDay, type Measure } from './usage-rows';

interface UsageTableProps {
  report: UsageReport;
  by: UsageGroup;
  measure: Measure;
}

/** The figures of each group. Keys and deployments have a bar: their share of all. */
export function UsageTable({ report, by, measure }: UsageTableProps): ReactNode {
  const nameOf = useNames(by);
  const { usage, total, truncated } = report;
  const rows = by === 'day' ? usage.toReversed() : usage;
  const paid = measure === 'charged_micros';
  return (
    <div className="table-box" tabIndex={0} role="region" aria-label={`Figures by ${by}`}>
      <table className="figures">
        <thead>
          <tr>
            <th scope="col" className="left">
              {by === 'day' ? 'Day (UTC)' : by === 'key' ? 'Key' : 'Deployment'}
            </th>
            {by !== 'day' && (
              <th scope="col" className="left">
                Share
              </th>
            )}
            <th scope="col">Jobs</th>
            <th scope="col">Engine time</th>
            {paid && <th scope="col">Credits</th>}
          </tr>
        </thead>
        <tbody className="number">
          {rows.map((row) => (
            <tr key={row.group}>
              <th scope="row" className="left" title={row.group ?? undefined}>
                {nameOf(row.group)}
              </th>
              {by !== 'day' && (
                <td>
                  <Bar value={row[measure] / Math.max(1, total[measure])} label={`Share of ${nameOf(row.group)}`} />
                </td>
              )}
              <td>{row.jobs}</td>
              <td>{formatDuration(row.billable_ms)}</td>
              {paid && <td>{formatCredits(row.charged_micros)}</td>}
            </tr>
          ))}
        </tbody>
        <tfoot className="number">
          <tr>
            <th scope="row" className="left">
              All
            </th>
            {by !== 'day' && <td />}
            <td>{total.jobs}</td>
            <td>{formatDuration(total.billable_ms)}</td>
            {paid && <td>{formatCredits(total.charged_micros)}</td>}
          </tr>
        </tfoot>
      </table>
      {truncated && (
        <p className="table-note small soft">There are more groups than are listed. The sums and the CSV hold all.</p>
      )}
    </div>
  );
}

/** How groups are called. An id stands for what is not known: a key that this session may not list, a deployment that was deleted. */
function useNames(by: UsageGroup): (group: string | null) => string {
  const { key, may } = useSession();
  const deployments = useQuery({ ...deploymentsQuery, enabled: by === 'deployment' && may('jobs:read') });
  const keys = useQuery({ ...apiKeysQuery, enabled: by === 'key' && may('keys:admin') });
  return (group) => {
    if (group === null) return by === 'key' ? 'Without a key' : 'Without a deployment';
    if (by === 'day') return formatDay(group);
    if (by === 'key' && group === key.id) return `${key.name} (this session)`;
    if (by === 'key') return keys.data?.find(({ id }) => id === group)?.name ?? shortId(group);
    return deployments.data?.find(({ id }) => id === group)?.name ?? shortId(group);
  };
}
