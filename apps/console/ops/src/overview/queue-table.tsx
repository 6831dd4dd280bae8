import { useState, type ReactNode } from 'react';
import { Button } from '../../../src/ui/controls/button';
import { Sign } from '../../../src/ui/display/status';
import { formatDuration } from '../../../src/ui/format';
import type { Queue } from '../api/overview';
import { PoolLink } from '../parts/links';
import './overview.css';

const SHOWN = 10;

/** The queue of each pool that has work, the oldest waiting first; the others on request. */
export function QueueTable({ queues }: { queues: Queue[] }): ReactNode {
  const [all, setAll] = useState(false);
  const sorted = [...queues].sort((a, b) => b.oldest_seconds - a.oldest_seconds || b.waiting - a.waiting);
  const shown = all ? sorted : sorted.slice(0, SHOWN);
  return (
    <section className="panel" aria-labelledby="queues">
      <div className="panel-head">
        <h2 id="queues">Queues by pool</h2>
        {queues.length > SHOWN && (
          <Button kind="quiet" aria-pressed={all} onClick={() => setAll(!all)}>
            {all ? 'Only the busiest' : `All ${queues.length}`}
          </Button>
        )}
      </div>
      {queues.length === 0 && <p className="panel-note soft">There is no pool yet: it comes with its first worker.</p>}
      {queues.length > 0 && (
        <div className="table-box" tabIndex={0} role="region" aria-label="Queues">
          <table className="figures">
            <thead>
              <tr>
                <th scope="col" className="left">
                  Pool
                </th>
                <th scope="col">Waiting</th>
                <th scope="col">Oldest waits</th>
                <th scope="col">On the way</th>
                <th scope="col">Running</th>
              </tr>
            </thead>
            <tbody className="number">
              {shown.map(({ pool, waiting, oldest_seconds: oldest, dispatched, running, stopped }) => (
                <tr key={pool}>
                  <th scope="row" className="left">
                    <PoolLink id={pool} /> {stopped && <Sign tone="rest">Stopped</Sign>}
                  </th>
                  <td>{waiting.toLocaleString()}</td>
                  <td>{waiting === 0 ? '–' : formatDuration(oldest * 1_000)}</td>
                  <td>{dispatched.toLocaleString()}</td>
                  <td>{running.toLocaleString()}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
