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
import { ScopeField } from './scope-field';
import { USUAL_SCOPES } from './scopes';

const NAME_CHARACTERS = 200;

/** A new key: its form, and then the key, once. */
export function CreateKey({ own, onClose }: { own: ApiKey | null; onClose: () => void }): ReactNode {
  const { may } = useSession();
  const [name, setName] = useState('');
  const [scopes, setScopes] = useState<Scope[]>(USUAL_SCOPES.filter(may));
  const [expiry, setExpiry] = useState('');
  const formId = useId();
  const client = useQueryClient();
  const create = useMutation({
    mutationFn: createApiKey,
    onSuccess: () => void client.invalidateQueries({ queryKey: apiKeysQuery.queryKey }),
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    create.mutate({ name: name.trim(), scopes, expires_at: expiry === '' ? null : new Date(expiry).toISOString() });
  };
  return (
    <KeyDialog
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
      <form id={formId} className="key-form" onSubmit={submit}>
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
