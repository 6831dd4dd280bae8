import { useState, type ReactNode } from 'react';
import { Button } from '../../../src/ui/controls/button';
import { Sign } from '../../../src/ui/display/status';
import type { Queue } from '../api/overview';
import { PoolName } from '../parts/links';
import { Rows, type Column } from '../parts/rows';
import { waited } from '../parts/waited';

const SHOWN = 10;

const COLUMNS: readonly Column<Queue>[] = [
  {
    name: 'Pool',
    cell: ({ pool, stopped }) => (
      <div className="stack">
        <PoolName id={pool} />
        {stopped && (
          <span className="small">
            <Sign tone="rest">Stopped</Sign>
          </span>
        )}
      </div>
    ),
  },
  { name: 'Waiting', right: true, cell: ({ waiting }) => waiting.toLocaleString() },
  { name: 'Oldest waits', right: true, cell: ({ oldest_seconds: oldest }) => waited(oldest) },
  { name: 'On the way', right: true, cell: ({ dispatched }) => dispatched.toLocaleString() },
  { name: 'Running', right: true, cell: ({ running }) => running.toLocaleString() },
];

/** The queue of each pool that has work, the oldest waiting first; the others on request. */
export function QueueTable({ queues }: { queues: Queue[] }): ReactNode {
  const [all, setAll] = useState(false);
  const sorted = [...queues].sort((a, b) => b.oldest_seconds - a.oldest_seconds || b.waiting - a.waiting);
  return (
    <section className="stack section" aria-labelledby="queues">
      <div className="section-head">
        <h2 id="queues">Queues by pool</h2>
        {queues.length > SHOWN && (
          <Button kind="quiet" aria-pressed={all} onClick={() => setAll(!all)}>
            {all ? 'Only the busiest' : `All ${queues.length}`}
          </Button>
        )}
      </div>
      {queues.length === 0 && (
        <p className="panel panel-note soft">There is no pool yet: it comes with its first worker.</p>
      )}
      {queues.length > 0 && (
        <Rows
          label="Queues"
          kind="queues"
          rows={all ? sorted : sorted.slice(0, SHOWN)}
          keyOf={({ pool }) => pool}
          columns={COLUMNS}
        />
      )}
    </section>
  );
}
