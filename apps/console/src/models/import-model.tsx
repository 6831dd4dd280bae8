import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { importModel, pathOf, type ModelImportDraft } from '../api/models';
import { Button } from '../ui/controls/button';
import { Field } from '../ui/controls/field';
import { Modal } from '../ui/controls/modal';
import { ErrorNote } from '../ui/display/error-note';
import { notify } from '../ui/display/notices';
import { ModelFieldInputs } from './model-fields';

const URL_CHARACTERS = 2_048;
const FIRST_DRAFT: ModelImportDraft = { url: '', folder: 'checkpoints', name: '', hash: null, licence: null };

/** Has the service fetch a file of weights. */
export function ImportModel({ onClose }: { onClose: () => void }): ReactNode {
  const [draft, setDraft] = useState(FIRST_DRAFT);
  const form = useId();
  const client = useQueryClient();
  const start = useMutation({
    mutationFn: importModel,
    onSuccess: (model) => {
      notify(`“${pathOf(model)}” is being fetched`);
      onClose();
      return client.invalidateQueries({ queryKey: ['models'] });
    },
  });
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    start.mutate(draft);
  };
  // The name follows the URL as long as nobody writes another.
  const moveTo = (url: string): void => {
    const follows = draft.name === '' || draft.name === nameOf(draft.url);
    setDraft({ ...draft, url, ...(follows && { name: nameOf(url) }) });
  };
  return (
    <Modal
      title="Import a model"
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={form} busy={start.isPending}>
            Import the model
          </Button>
        </>
      }
    >
      <form id={form} className="fields" onSubmit={submit}>
        <Field label="URL" note="The operator of the service decides from which hosts it fetches.">
          {(ids) => (
            <input
              {...ids}
              className="input"
              type="url"
              placeholder="https://models.example.com/detail.safetensors"
              value={draft.url}
              maxLength={URL_CHARACTERS}
              onChange={(event) => moveTo(event.target.value.trim())}
              autoFocus
              required
            />
          )}
        </Field>
        <ModelFieldInputs fields={draft} onChange={(changes) => setDraft({ ...draft, ...changes })} />
        <Field label="Hash" note="Optional: sha256: or blake3: and 64 digits. A file with another is refused.">
          {(ids) => (
            <input
              {...ids}
              className="input mono"
              pattern="(blake3|sha256):[0-9a-fA-F]{64}"
              title="sha256: or blake3: and 64 hexadecimal digits"
              value={draft.hash ?? ''}
              onChange={({ target }) => setDraft({ ...draft, hash: target.value === '' ? null : target.value.trim() })}
            />
          )}
        </Field>
        {start.isError && <ErrorNote error={start.error} title="The model is not imported" />}
      </form>
    </Modal>
  );
}

/** `https://host/a/b.safetensors?x` → `b.safetensors`; empty where it names none. */
function nameOf(url: string): string {
  if (!URL.canParse(url)) return '';
  const last = new URL(url).pathname.split('/').at(-1) ?? '';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}
