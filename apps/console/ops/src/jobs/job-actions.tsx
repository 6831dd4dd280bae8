import { useState, type ReactNode } from 'react';
import { useNavigate } from '@tanstack/react-router';
import { isUnanswered, sendOnce } from '../../../src/api/idempotency-key';
import { Button } from '../../../src/ui/controls/button';
import { Icon } from '../../../src/ui/controls/icon';
import { cancelJob, redriveJob, type OperatedJob } from '../api/jobs';
import { useMay } from '../api/use-may';
import { Confirm } from '../parts/confirm';

/** What an operator does with a job: cancel one that has not ended, run an ended one again. */
export function JobActions({ job: { id, status, completed_at } }: { job: OperatedJob }): ReactNode {
  const [asking, setAsking] = useState<'cancel' | 'redrive' | null>(null);
  const navigate = useNavigate();
  const close = (): void => setAsking(null);
  const act = `redrive ${id}`;
  const mayAct = useMay('operator');
  const redrive = async (): Promise<void> => {
    const made = await sendOnce(act, (key) => redriveJob(id, key));
    await navigate({ to: '/jobs/$jobId', params: { jobId: made.id } });
  };
  if (!mayAct) return null;
  return (
    <>
      {completed_at === null && status !== 'canceling' && (
        <Button kind="danger" icon={<Icon name="stop" />} onClick={() => setAsking('cancel')}>
          Cancel
        </Button>
      )}
      {completed_at !== null && (
        <Button icon={<Icon name="again" />} onClick={() => setAsking('redrive')}>
          Redrive
        </Button>
      )}
      {asking === 'cancel' && (
        <Confirm
          title="Cancel this job?"
          label="Cancel the job"
          done="The job is canceled"
          act={() => cancelJob(id)}
          onClose={close}
        >
          It ends as its owner&apos;s own cancellation would end it: a running attempt is interrupted. It cannot be
          undone.
        </Confirm>
      )}
      {asking === 'redrive' && (
        <Confirm
          title="Run this job's graph again?"
          label="Redrive the job"
          kind="primary"
          done="A new job was made"
          act={redrive}
          onClose={close}
        >
          This job stays ended. A new job of the same account runs the same graph, at today&apos;s price and on the
          account&apos;s credits.
          {isUnanswered(act) &&
            ' The last redrive has no answer yet: sent again, it makes no second job and opens the one that was made.'}
        </Confirm>
      )}
    </>
  );
}
