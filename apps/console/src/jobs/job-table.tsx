import { useCallback, useEffect, useState, type ReactNode } from 'react';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import type { JobListItem } from '@millrace/contracts';
import { useNarrow } from '../ui/use-narrow';
import { JobRow } from './job-row';

const ROW_PX = 44;
const NARROW_ROW_PX = 76;
/** Rows drawn beyond what is seen, and how near the end the next page is asked for. */
const AHEAD = 12;

interface JobTableProps {
  jobs: JobListItem[];
  deployment: string | undefined;
  selected: ReadonlySet<string>;
  onSelect: (selected: ReadonlySet<string>) => void;
  more: boolean;
  loading: boolean;
  /** The next page was refused: it is asked for again by hand. */
  failed: boolean;
  onMore: () => void;
}

/** Any number of jobs: only the rows in view exist. */
export function JobTable(props: JobTableProps): ReactNode {
  const { jobs, deployment, selected, onSelect, more, loading, failed, onMore } = props;
  const narrow = useNarrow();
  const height = narrow ? NARROW_ROW_PX : ROW_PX;
  const [topPx, setTopPx] = useState(0);
  const body = useCallback((element: HTMLDivElement | null) => setTopPx(element?.offsetTop ?? 0), []);
  const rows = useWindowVirtualizer({
    count: jobs.length,
    estimateSize: () => height,
    overscan: AHEAD,
    scrollMargin: topPx,
    getItemKey: (index) => jobs[index]?.id ?? index,
  });
  useEffect(() => rows.measure(), [rows, height]);
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more && !loading && !failed && last >= jobs.length - AHEAD) onMore();
  }, [more, loading, failed, last, jobs.length, onMore]);
  const select = (id: string, on: boolean): void => {
    const next = new Set(selected);
    if (on) next.add(id);
    else next.delete(id);
    onSelect(next);
  };
  const active = jobs.filter((job) => job.completed_at === null).map((job) => job.id);
  const all = active.length > 0 && active.every((id) => selected.has(id));
  return (
    <div className="panel job-table" role="table" aria-label="Jobs" aria-rowcount={more ? -1 : jobs.length}>
      <div className="job-row head" role="row">
        <span role="columnheader">
          <label className="job-check">
            <input
              type="checkbox"
              aria-label="Select all jobs that have not ended"
              checked={all}
              disabled={active.length === 0}
              onChange={() => onSelect(new Set(all ? [] : active))}
            />
          </label>
        </span>
        <span role="columnheader">Status</span>
        <span role="columnheader">Job</span>
        <span role="columnheader">Result</span>
        <span role="columnheader" className="right">
          Ran for
        </span>
        <span role="columnheader" className="right">
          Credits
        </span>
        <span role="columnheader" className="right">
          Submitted
        </span>
      </div>
      <div ref={body} role="rowgroup" className="job-rows" style={{ height: rows.getTotalSize() }}>
        {shown.map(({ index, key, start }) => {
          const job = jobs[index];
          return job === undefined ? null : (
            <JobRow
              key={key}
              job={job}
              index={index}
              offsetPx={start - topPx}
              deployment={deployment}
              selected={selected.has(job.id)}
              onSelect={(on) => select(job.id, on)}
            />
          );
        })}
      </div>
      {loading && (
        <p className="job-more soft small" role="status">
          Loading more jobs …
        </p>
      )}
    </div>
  );
}
