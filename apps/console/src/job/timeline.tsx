import { useState, type ReactNode } from 'react';
import type { Job, JobNodes } from '@millrace/contracts';
import type { GraphNode } from '../graph';
import { Button } from '../ui/controls/button';
import { formatDuration } from '../ui/format';
import { timelineOf } from './timeline-rows';
import './timeline.css';

/** What took less of the whole is shown on request. */
const LEAST_SHARE = 0.01;

interface TimelineProps {
  job: Job;
  times: JobNodes['nodes'];
  nodes: readonly GraphNode[];
  onShow: (node: string) => void;
}

/** Where the time of an ended job went: waiting, then node by node. */
export function Timeline({ job, times, nodes, onShow }: TimelineProps): ReactNode {
  const [all, setAll] = useState(false);
  const rows = timelineOf(job, times, nodes);
  if (rows.length === 0) return null;
  const long = rows.filter(({ from, to }) => to - from >= LEAST_SHARE);
  const shown = all ? rows : long;
  return (
    <section className="panel" aria-label="Timeline">
      <div className="panel-head">
        <h2>Where the time went</h2>
        <span className="small soft">last attempt</span>
      </div>
      <ol className="timeline">
        {shown.map((row) => (
          <li key={row.key}>
            {row.nodeId === null ? (
              <span className="clip">{row.name}</span>
            ) : (
              <button type="button" className="link-button clip" onClick={() => onShow(row.nodeId ?? '')}>
                {row.name} <span className="faint">#{row.nodeId}</span>
              </button>
            )}
            <span className="track">
              <span
                className={row.kind}
                style={{ left: `${row.from * 100}%`, width: `max(2px, ${(row.to - row.from) * 100}%)` }}
              />
            </span>
            <span className="number small soft">{row.kind === 'cached' ? 'cached' : formatDuration(row.ms)}</span>
          </li>
        ))}
      </ol>
      {long.length < rows.length && (
        <Button kind="quiet" className="timeline-more" onClick={() => setAll(!all)}>
          {all ? 'Show the long ones' : `Show all ${rows.length}`}
        </Button>
      )}
    </section>
  );
}
