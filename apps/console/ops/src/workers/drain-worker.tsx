import { useState, type ReactNode } from 'react';
import { Button } from '../../../src/ui/controls/button';
import { useMay } from '../api/use-may';
import { drainWorker, type Worker } from '../api/workers';
import { Confirm } from '../parts/confirm';

/** Lets a worker finish and take nothing more, or takes that back. */
export function DrainWorker({ worker: { id, host, state, running_jobs } }: { worker: Worker }): ReactNode {
  const [asking, setAsking] = useState(false);
  const mayDrain = useMay('operator');
  if (!mayDrain || state === 'stopped' || state === 'lost') return null;
  const verb = state === 'draining' ? 'undrain' : 'drain';
  const jobs = running_jobs.length === 1 ? 'the job' : `the ${running_jobs.length} jobs`;
  return (
    <>
      <Button onClick={() => setAsking(true)}>{verb === 'drain' ? 'Drain' : 'Undo drain'}</Button>
      {asking && (
        <Confirm
          title={verb === 'drain' ? `Drain the worker on ${host}?` : `Let the worker on ${host} take jobs again?`}
          label={verb === 'drain' ? 'Drain the worker' : 'Undo the drain'}
          kind={verb === 'drain' ? 'danger' : 'primary'}
          done={verb === 'drain' ? 'The worker drains' : 'The worker takes jobs again'}
          act={() => drainWorker(id, verb)}
          onClose={() => setAsking(false)}
        >
          {verb === 'undrain'
            ? 'It takes jobs again with its next heartbeat. A worker that is about to stop goes on draining.'
            : `It takes no more jobs${running_jobs.length === 0 ? '' : ` and finishes ${jobs} that it has`}. The process stays until it is stopped, so it can be undone.`}
        </Confirm>
      )}
    </>
  );
}
