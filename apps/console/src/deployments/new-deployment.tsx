import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { createDeployment, deploymentsQuery } from '../api/deployments';
import { engineClassesQuery, type EngineClass } from '../api/engine-classes';
import { Button } from '../ui/controls/button';
import { Empty } from '../ui/display/empty';
import { ErrorNote } from '../ui/display/error-note';
import { Modal } from '../ui/controls/modal';
import { notify } from '../ui/display/notices';
import { Skeleton } from '../ui/display/skeleton';
import { DeploymentFields, FIRST_DRAFT } from './deployment-fields';

/** A new deployment. It is ready by itself some time after. */
export function NewDeployment({ onClose }: { onClose: () => void }): ReactNode {
  const classes = useQuery(engineClassesQuery);
  const form = useId();
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: createDeployment,
    onSuccess: ({ name }) => {
      notify(`“${name}” is created`);
      onClose();
      return client.invalidateQueries({ queryKey: deploymentsQuery.queryKey });
    },
  });
  const offered = classes.data ?? [];
  return (
    <Modal
      title="New deployment"
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={form} kind="primary" busy={create.isPending} disabled={offered.length === 0}>
            Create
          </Button>
        </>
      }
    >
      {classes.isPending && <Skeleton lines={4} />}
      {classes.isError && <ErrorNote error={classes.error} onRetry={() => void classes.refetch()} />}
      {classes.isSuccess && offered.length === 0 && <NoClasses />}
      {offered.length > 0 && <Form id={form} classes={offered} onSubmit={(draft) => create.mutate(draft)} />}
      {create.isError && <ErrorNote error={create.error} title="The deployment was not created" />}
    </Modal>
  );
}

interface FormProps {
  id: string;
  classes: EngineClass[];
  onSubmit: (draft: Parameters<typeof createDeployment>[0]) => void;
}

function Form({ id, classes, onSubmit }: FormProps): ReactNode {
  const [draft, setDraft] = useState({ ...FIRST_DRAFT, engine_class: classes[0]?.name ?? '' });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onSubmit({ ...draft, name: draft.name.trim() });
  };
  return (
    <form id={id} className="deployment-form" onSubmit={submit}>
      <DeploymentFields draft={draft} classes={classes} onChange={(changes) => setDraft({ ...draft, ...changes })} />
    </form>
  );
}

function NoClasses(): ReactNode {
  return (
    <Empty icon="deployments" title="There is nothing to run on">
      <p>The operator of this service offers no engine classes. Ask them for one.</p>
    </Empty>
  );
}
