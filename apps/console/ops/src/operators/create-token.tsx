import { useState, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { OPERATOR_ROLES, type OperatorRole } from '@millrace/contracts';
import { Button } from '../../../src/ui/controls/button';
import { Field } from '../../../src/ui/controls/field';
import { OnceDialog } from '../../../src/ui/controls/once-dialog';
import { CodeBlock } from '../../../src/ui/display/code-block';
import { ErrorNote } from '../../../src/ui/display/error-note';
import { createOperatorToken, operatorTokensQuery } from '../api/operator-tokens';

const MEANINGS: Record<OperatorRole, string> = {
  viewer: 'reads everything',
  operator: 'also acts on accounts, keys, jobs, deployments and workers',
  finance: 'reads everything, and grants or takes credits',
  admin: 'everything, these tokens among it',
};

/** Makes a token and shows it once. */
export function CreateToken({ onClose }: { onClose: () => void }): ReactNode {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [role, setRole] = useState<OperatorRole>('viewer');
  const creating = useMutation({
    mutationFn: createOperatorToken,
    onSuccess: () => client.invalidateQueries({ queryKey: operatorTokensQuery.queryKey }),
  });
  const { data: made } = creating;
  const content = made && (
    <>
      <p>
        <strong>It will not be shown again.</strong> The service keeps only its hash. It works for 90 days.
      </p>
      <CodeBlock label="Operator token" text={made.token} />
    </>
  );
  return (
    <OnceDialog
      pending={creating.isPending}
      title="New operator token"
      shown={made && { title: `The token ${made.name}`, content }}
      onClose={onClose}
      action={
        <Button kind="primary" busy={creating.isPending} onClick={() => creating.mutate({ name: name.trim(), role })}>
          Create the token
        </Button>
      }
    >
      <Field label="Name" note="The audit log calls it token:<name>. No later token gets the same.">
        {(ids) => (
          <input {...ids} className="input mono" value={name} onChange={({ target }) => setName(target.value)} />
        )}
      </Field>
      <Field label="Role" note={MEANINGS[role]}>
        {(ids) => (
          <select
            {...ids}
            className="input"
            value={role}
            onChange={({ target }) => setRole(OPERATOR_ROLES.find((one) => one === target.value) ?? 'viewer')}
          >
            {OPERATOR_ROLES.map((one) => (
              <option key={one} value={one}>
                {one}
              </option>
            ))}
          </select>
        )}
      </Field>
      {creating.isError && <ErrorNote error={creating.error} title="It was refused" />}
    </OnceDialog>
  );
}
