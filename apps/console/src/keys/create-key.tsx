import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { Scope } from '@millrace/contracts';
import { apiKeysQuery, createApiKey, type ApiKey } from '../api/api-keys';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { ErrorNote } from '../ui/display/error-note';
import { Field } from '../ui/controls/field';
import { EndsWithSession } from './ends-with-session';
import { KeyDialog } from './key-dialog';
import { readLabels } from './key-labels';
import { ScopeField } from './scope-field';
import { USUAL_SCOPES } from './scopes';

const NAME_CHARACTERS = 200;

/** A new key: its form, and then the key, once. */
export function CreateKey({ own, onClose }: { own: ApiKey | null; onClose: () => void }): ReactNode {
  const { may } = useSession();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<Scope[]>(USUAL_SCOPES.filter(may));
  const [labels, setLabels] = useState('');
  const [expiry, setExpiry] = useState('');
  const formId = useId();
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: createApiKey,
    onSuccess: () => void client.invalidateQueries({ queryKey: apiKeysQuery.queryKey }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const expiresAt = expiry === '' ? null : new Date(expiry).toISOString();
    create.mutate({ name: name.trim(), scopes, labels: readLabels(labels), expires_at: expiresAt });
  };
  return (
    <KeyDialog
      pending={create.isPending}
      title="New key"
      issued={create.data}
      onClose={onClose}
      action={
        <Button
          kind="primary"
          type="submit"
          form={formId}
          busy={create.isPending}
          disabled={name.trim() === '' || scopes.length === 0}
        >
          Create the key
        </Button>
      }
    >
      <form id={formId} className="fields" onSubmit={submit}>
        <Field label="Name" note="What it is for: a program, a server, a person.">
          {(ids) => (
            <input
              {...ids}
              className="input"
              value={name}
              maxLength={NAME_CHARACTERS}
              onChange={(event) => setName(event.target.value)}
              autoFocus
              required
            />
          )}
        </Field>
        <ScopeField scopes={scopes} onScopes={setScopes} />
        <Field
          label="Labels"
          note="Optional, such as user=ada. For a key that you hand to one of your users: its jobs carry these labels, and it sees no others."
        >
          {(ids) => (
            <input
              {...ids}
              className="input mono"
              value={labels}
              onChange={(event) => setLabels(event.target.value)}
              autoComplete="off"
              spellCheck={false}
            />
          )}
        </Field>
        <Field label="Expires" note="Optional, in your time zone.">
          {(ids) => (
            <input
              {...ids}
              className="input"
              type="datetime-local"
              value={expiry}
              onChange={(event) => setExpiry(event.target.value)}
            />
          )}
        </Field>
        <EndsWithSession own={own} />
        {create.isError && <ErrorNote error={create.error} title="The key was not created" />}
      </form>
    </KeyDialog>
  );
}
