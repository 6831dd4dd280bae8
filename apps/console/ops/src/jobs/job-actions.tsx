import { useState, type ReactNode } from 'react';
import { useNavigate } from '@tanstack/react-router';
import { newIdempotencyKey } from '../../../src/api/idempotency-key';
import { Button } from '../../../src/ui/controls/button';
import { Icon } from '../../../src/ui/controls/icon';
import { cancelJob, redriveJob, type OperatedJob } from '../api/jobs';
import { Confirm } from '../parts/confirm';

/** What an operator does with a job: cancel one that has not ended, run an ended one again. */
export function JobActions({ job: { id, status, completed_at } }: { job: OperatedJob }): ReactNode {
  const [asking, setAsking] = useState<'cancel' | 'redrive' | null>(null);
  // Of one question: a press that is repeated after a lost answer makes no second job.
  const [key, setKey] = useState('');
  const navigate = useNavigate();
  const close = (): void => setAsking(null);
  const askToRedrive = (): void => {
    setKey(newIdempotencyKey());
    setAsking('redrive');
  };
  const redrive = async (): Promise<void> => {
    const made = await redriveJob(id, key);
    await navigate({ to: '/jobs/$jobId', params: { jobId: made.id } });
  };
  return (
    <>
      {completed_at === null && status !== 'canceling' && (
        <Button kind="danger" icon={<Icon name="stop" />} onClick={() => setAsking('cancel')}>
          Cancel
        </Button>
      )}
      {completed_at !== null && (
        <Button icon={<Icon name="again" />} onClick={askToRedrive}>
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
        </Confirm>
      )}
    </>
  );
}
