import { useState, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { JobListItem } from '@millrace/contracts';
import { cancelJob } from '../api/jobs';
import { Button } from '../ui/controls/button';
import { Icon } from '../ui/controls/icon';
import { Modal } from '../ui/controls/modal';
import { notify, notifyError } from '../ui/display/notices';

const AT_ONCE = 4;

interface CancelSelectedProps {
  jobs: JobListItem[];
  deployment: string | undefined;
  onDone: () => void;
}

/** Cancels the selected jobs that have not ended, after asking. */
export function CancelSelected({ jobs, deployment, onDone }: CancelSelectedProps): ReactNode {
  const [asking, setAsking] = useState(false);
  const client = useQueryClient();
  const active = jobs.filter((job) => job.completed_at === null);
  const cancel = useMutation({
    mutationFn: () => cancelAll(active, deployment),
    onSuccess: (count) => notify(count === 1 ? '1 job is canceled' : `${count} jobs are canceled`),
    onError: (error) => notifyError('Not every job was canceled', error),
    onSettled: () => {
      setAsking(false);
      onDone();
      return client.invalidateQueries({ queryKey: ['jobs'] });
    },
  });
  if (active.length === 0) return null;
  const name = active.length === 1 ? 'Cancel 1 job' : `Cancel ${active.length} jobs`;
  return (
    <>
      <Button kind="danger" icon={<Icon name="stop" />} onClick={() => setAsking(true)}>
        {name}
      </Button>
      <Modal
        title={`${name}?`}
        open={asking}
        onClose={() => setAsking(false)}
        actions={
          <>
            <Button onClick={() => setAsking(false)}>Keep running</Button>
            <Button kind="danger" busy={cancel.isPending} onClick={() => cancel.mutate()}>
              {name}
            </Button>
          </>
        }
      >
        <p className="soft">
          Waiting jobs cost nothing. Running jobs stop at once; the engine time that they used until then is charged.
        </p>
      </Modal>
    </>
  );
}

/** A few at a time. @throws the first error, after all were tried. */
async function cancelAll(jobs: JobListItem[], deployment: string | undefined): Promise<number> {
  const waiting = [...jobs];
  const errors: unknown[] = [];
  const take = async (): Promise<void> => {
    for (let job = waiting.pop(); job !== undefined; job = waiting.pop()) {
      await cancelJob({ id: job.id, deployment }).catch((error: unknown) => errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, take));
  if (errors.length > 0) throw errors[0];
  return jobs.length;
}
