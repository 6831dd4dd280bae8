import { useState, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { createDeployment, deploymentsQuery, type DeploymentDraft } from '../api/deployments';
import type { EngineClass } from '../api/engine-classes';
import { notify } from '../ui/display/notices';
import { ClassForm } from './class-form';
import { DeploymentFields, FIRST_DRAFT } from './deployment-fields';

/** A new deployment. It is ready by itself some time after. */
export function NewDeployment({ onClose }: { onClose: () => void }): ReactNode {
  const [chosen, setChosen] = useState<Partial<DeploymentDraft>>({});
  const draftOf = (classes: EngineClass[]): DeploymentDraft => ({
    ...FIRST_DRAFT,
    engine_class: classes[0]?.name ?? '',
    ...chosen,
  });
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: createDeployment,
    onSuccess: ({ name }) => {
      notify(`“${name}” is created`);
      onClose();
      return client.invalidateQueries({ queryKey: deploymentsQuery.queryKey });
    },
  });
  return (
    <ClassForm
      title="New deployment"
      verb="Create"
      busy={create.isPending}
      refusal={create.isError ? { error: create.error, title: 'The deployment was not created' } : null}
      onSubmit={(classes) => create.mutate({ ...draftOf(classes), name: (chosen.name ?? '').trim() })}
      onClose={onClose}
    >
      {(classes) => (
        <DeploymentFields
          draft={draftOf(classes)}
          classes={classes}
          onChange={(changes) => setChosen({ ...chosen, ...changes })}
        />
      )}
    </ClassForm>
  );
}
