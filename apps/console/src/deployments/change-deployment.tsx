import { useState, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { changeDeployment, deploymentsQuery, type Deployment, type DeploymentChanges } from '../api/deployments';
import { notify } from '../ui/display/notices';
import { ClassForm } from './class-form';
import { DeploymentFields } from './deployment-fields';

/** Changes a deployment in place. What is not changed is not sent: another may have changed it meanwhile. */
export function ChangeDeployment({ deployment, onClose }: { deployment: Deployment; onClose: () => void }): ReactNode {
  const [changes, setChanges] = useState<DeploymentChanges>({});
  const client = useQueryClient();
  const change = useMutation({
    mutationFn: () => changeDeployment(deployment.id, changes),
    onSuccess: ({ name }) => {
      notify(`“${name}” is changed`);
      onClose();
      return client.invalidateQueries({ queryKey: deploymentsQuery.queryKey });
    },
  });
  return (
    <ClassForm
      title={`Change “${deployment.name}”`}
      verb="Save"
      busy={change.isPending}
      refusal={change.isError ? { error: change.error, title: 'Nothing was changed' } : null}
      onSubmit={() => change.mutate()}
      onClose={onClose}
    >
      {(classes) => (
        <>
          <DeploymentFields
            draft={{ ...deployment, ...changes }}
            classes={classes}
            onChange={(more) => setChanges({ ...changes, ...more })}
          />
          <p className="small faint">
            It changes at once, for all jobs. To try something on a share of them, add a version instead.
          </p>
        </>
      )}
    </ClassForm>
  );
}
