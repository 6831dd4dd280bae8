import { useState, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Job } from '@millrace/contracts';
import { isEnded } from '../api/job-facts';
import { cancelJob, jobQuery, type JobPlace } from '../api/jobs';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { Icon } from '../ui/controls/icon';
import { notifyError } from '../ui/display/notices';
import { CopyAs } from './copy-as';
import { mergeJob } from './merge-job';

/** What can be done with a job. */
export function JobActions({ job, place }: { job: Job; place: JobPlace }): ReactNode {
  const [copying, setCopying] = useState(false);
  const mayWrite = useSession().may('jobs:write');
  const client = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => cancelJob(place),
    onSuccess: (canceled) =>
      client.setQueryData(jobQuery(place).queryKey, (known) => known && mergeJob(known, canceled)),
    onError: (error) => notifyError('The job was not canceled', error),
  });
  const { status } = job;
  return (
    <>
      <Button icon={<Icon name="copy" />} onClick={() => setCopying(true)}>
        Copy as …
      </Button>
      {mayWrite && (
        <Link
          className="button"
          to="/new"
          search={
            place.deployment === undefined ? { from: place.id } : { from: place.id, deployment: place.deployment }
          }
        >
          <Icon name="again" />
          Run again with changes
        </Link>
      )}
      {mayWrite && !isEnded(status) && (
        <Button
          kind="danger"
          icon={<Icon name="stop" />}
          busy={cancel.isPending || status === 'canceling'}
          onClick={() => cancel.mutate()}
        >
          {status === 'canceling' ? 'Canceling' : 'Cancel'}
        </Button>
      )}
      {copying && <CopyAs place={place} onClose={() => setCopying(false)} />}
    </>
  );
}
