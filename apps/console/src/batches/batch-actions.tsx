import { useState, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { BatchView } from '@millrace/contracts';
import { batchQuery, cancelBatch, retryBatch, type BatchPlace } from '../api/batches';
import { sendOnce } from '../api/idempotency-key';
import { Button } from '../ui/controls/button';
import { Icon } from '../ui/controls/icon';
import { Modal } from '../ui/controls/modal';
import { ErrorNote } from '../ui/display/error-note';
import { notify, notifyError } from '../ui/display/notices';

interface BatchActionsProps {
  batch: BatchView;
  place: BatchPlace;
  mayWrite: boolean;
}

/** What can be done with a batch. Downloads are links: the browser writes them to the disk as they come. */
export function BatchActions({ batch, place, mayWrite }: BatchActionsProps): ReactNode {
  const [canceling, setCanceling] = useState(false);
  const client = useQueryClient();
  const failed = batch.counts.failed + batch.counts.expired;
  const retry = useMutation({
    mutationFn: () =>
      // Once the page shows that they were tried again, another press is for those that failed since.
      sendOnce(`retry the failed jobs of ${batch.id}, after ${batch.retry_count} times`, (key) =>
        retryBatch(place, ['failed', 'expired'], key),
      ),
    onSuccess: async (now) => {
      notify(failed === 1 ? 'One job is tried again' : `${failed} jobs are tried again`);
      client.setQueryData(batchQuery(place).queryKey, now);
      await client.invalidateQueries({ queryKey: ['batch-jobs', batch.id] });
    },
    onError: (error) => notifyError('Nothing is tried again', error),
  });
  return (
    <>
      <a className="button" href={batch.urls.results} download={`batch-${batch.id}.ndjson`}>
        <Icon name="download" />
        Results (NDJSON)
      </a>
      <a className="button" href={batch.urls.outputs} download>
        <Icon name="download" />
        Outputs (ZIP)
      </a>
      {mayWrite && failed > 0 && (
        <Button icon={<Icon name="again" />} busy={retry.isPending} onClick={() => retry.mutate()}>
          {failed === 1 ? 'Retry the failed job' : `Retry ${failed} failed jobs`}
        </Button>
      )}
      {mayWrite && batch.status === 'active' && (
        <Button kind="danger" icon={<Icon name="stop" />} onClick={() => setCanceling(true)}>
          Cancel all
        </Button>
      )}
      {canceling && <CancelBatch batch={batch} place={place} onClose={() => setCanceling(false)} />}
    </>
  );
}

/** Cancels all that has not ended, after asking. */
function CancelBatch({
  batch,
  place,
  onClose,
}: Omit<BatchActionsProps, 'mayWrite'> & { onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const { queued, running, canceling } = batch.counts;
  const cancel = useMutation({
    mutationFn: () => cancelBatch(place),
    onSuccess: async (now) => {
      client.setQueryData(batchQuery(place).queryKey, now);
      onClose();
      notify('The batch is being canceled');
      await client.invalidateQueries({ queryKey: ['batch-jobs', batch.id] });
    },
  });
  return (
    <Modal
      title="Cancel the batch?"
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Let it run</Button>
          <Button kind="danger" busy={cancel.isPending} onClick={() => cancel.mutate()}>
            Cancel all jobs
          </Button>
        </>
      }
    >
      <p className="soft">
        {queued + running + canceling} of its {batch.job_count} jobs have not ended. They are canceled; what the others
        made stays.
      </p>
      {cancel.isError && <ErrorNote error={cancel.error} title="The batch was not canceled" />}
    </Modal>
  );
}
