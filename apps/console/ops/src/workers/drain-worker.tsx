import { useState, type ReactNode } from 'react';
import { Button } from '../../../src/ui/controls/button';
import { useMay } from '../api/use-may';
import { drainWorker, type Worker } from '../api/workers';
import { Confirm } from '../parts/confirm';

/** Lets a worker finish and take nothing more, or takes that back. The dialog asks for what it was opened for, also when the worker has changed. */
export function DrainWorker({ worker: { id, host, state, running_jobs } }: { worker: Worker }): ReactNode {
  const [asked, setAsked] = useState<'drain' | 'undrain' | null>(null);
  const mayDrain = useMay('operator');
  if (!mayDrain || state === 'stopped' || state === 'lost') return null;
  const offered = state === 'draining' ? 'undrain' : 'drain';
  const jobs = running_jobs.length === 1 ? 'the job' : `the ${running_jobs.length} jobs`;
  return (
    <>
      <Button onClick={() => setAsked(offered)}>{offered === 'drain' ? 'Drain' : 'Undo drain'}</Button>
      {asked !== null && (
        <Confirm
          title={asked === 'drain' ? `Drain the worker on ${host}?` : `Let the worker on ${host} take jobs again?`}
          label={asked === 'drain' ? 'Drain the worker' : 'Undo the drain'}
          kind={asked === 'drain' ? 'danger' : 'primary'}
          done={asked === 'drain' ? 'The worker drains' : 'The worker takes jobs again'}
          act={() => drainWorker(id, asked)}
          onClose={() => setAsked(null)}
        >
          {asked === 'undrain'
            ? 'It takes jobs again with its next heartbeat. A worker that is about to stop goes on draining.'
            : `It takes no more jobs${running_jobs.length === 0 ? '' : ` and finishes ${jobs} that it has`}. The process stays until it is stopped, so it can be undone.`}
        </Confirm>
      )}
    </>
  );
}
