import { useState, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Deployment } from '../api/deployments';
import { addVersion, deploymentVersionsQuery, type VersionDraft } from '../api/deployment-versions';
import { notify } from '../ui/display/notices';
import { ClassForm } from './class-form';
import { NumberField } from './number-field';
import { VersionFields } from './version-fields';

const FIRST_SHARE = 10;

/** Another version beside the present one, on a share of the jobs. */
export function NewVersion({ deployment, onClose }: { deployment: Deployment; onClose: () => void }): ReactNode {
  const [draft, setDraft] = useState<VersionDraft>({ weight: FIRST_SHARE });
  const client = useQueryClient();
  const { id, name } = deployment;
  const add = useMutation({
    mutationFn: () => addVersion(id, draft),
    onSuccess: (versions) => {
      notify(`“${name}” has another version`);
      onClose();
      client.setQueryData(deploymentVersionsQuery(id).queryKey, versions);
    },
  });
  return (
    <ClassForm
      title={`New version of “${name}”`}
      verb="Add the version"
      busy={add.isPending}
      refusal={add.isError ? { error: add.error, title: 'The version was not added' } : null}
      onSubmit={() => add.mutate()}
      onClose={onClose}
    >
      {(classes) => (
        <>
          <p className="soft">
            It has workers of its own, and takes its share of the jobs as soon as it is ready. Until then the present
            version takes all.
          </p>
          <NumberField
            label="Share of the jobs"
            note="In percent; the present version takes the rest."
            value={draft.weight}
            max={100}
            onChange={(weight) => setDraft({ ...draft, weight })}
          />
          <VersionFields
            draft={{ ...deployment, ...draft }}
            classes={classes}
            onChange={(changes) => setDraft({ ...draft, ...changes })}
          />
        </>
      )}
    </ClassForm>
  );
}
