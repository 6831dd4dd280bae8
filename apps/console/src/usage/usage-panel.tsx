import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { usageQuery, type UsageGroup } from '../api/credits';
import { Empty } from '../ui/display/empty';
import { ErrorNote } from '../ui/display/error-note';
import { Skeleton } from '../ui/display/skeleton';
import { DayChart } from './day-chart';
import { UsageTable } from './usage-table';
import type { Measure } from './usage-rows';

interface UsagePanelProps {
  days: number;
  by: UsageGroup;
  measure: Measure;
}

/** Usage of a time: a chart of its days, or a bar for each key or deployment, with all figures as a table. */
export function UsagePanel({ days, by, measure }: UsagePanelProps): ReactNode {
  const { data: report, ...query } = useQuery(usageQuery(days, by));
  if (query.isPending) return <Skeleton lines={6} />;
  if (report === undefined) {
    return <ErrorNote error={query.error} onRetry={() => query.refetch()} title="Usage could not be read" />;
  }
  if (report.total.jobs === 0) {
    return (
      <Empty icon="usage" title="Nothing was used in this time">
        <p>Usage counts jobs when they end. Look further back, or run a job.</p>
      </Empty>
    );
  }
  return (
    <section className="panel" aria-label="Usage">
      <div className="panel-head">
        <h2>Usage by {by}</h2>
        {query.isError && <span className="small soft">Not up to date: the service did not answer.</span>}
      </div>
      {by === 'day' && <DayChart report={report} measure={measure} />}
      <UsageTable report={report} by={by} measure={measure} />
    </section>
  );
}
