import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { EXPORT_DELIVERIES, exportDestinationQuery, setExportDestination } from '../api/exports';
import { Button } from '../ui/controls/button';
import { Field } from '../ui/controls/field';
import { Modal } from '../ui/controls/modal';
import { ErrorNote } from '../ui/display/error-note';
import { notify } from '../ui/display/notices';

const EMPTY = { bucket: '', region: 'us-east-1', endpoint: '', access_key_id: '', secret_access_key: '', prefix: '' };
type Draft = typeof EMPTY;

const FIELDS: readonly { name: keyof Draft; label: string; note?: string; type?: string; required?: boolean }[] = [
  { name: 'bucket', label: 'Bucket', required: true },
  { name: 'region', label: 'Region', required: true },
  { name: 'endpoint', label: 'Endpoint', note: "Optional: the URL of an S3 server other than AWS's." },
  { name: 'prefix', label: 'Prefix', note: 'Optional: what the names of the files begin with.' },
  { name: 'access_key_id', label: 'Access key', required: true },
  {
    name: 'secret_access_key',
    label: 'Secret access key',
    note: 'Kept encrypted, and never shown. It needs s3:PutObject and s3:AbortMultipartUpload.',
    type: 'password',
    required: true,
  },
];

/** Where daily exports are written. What was set before is replaced. */
export function ExportDestinationDialog({ onClose }: { onClose: () => void }): ReactNode {
  const [draft, setDraft] = useState<Draft>(EMPTY);
  const formId = useId();
  const client = useQueryClient();
  const set = useMutation({
    mutationFn: () => setExportDestination({ ...draft, endpoint: draft.endpoint === '' ? null : draft.endpoint }),
    onSuccess: async () => {
      notify('The bucket is set: test it');
      onClose();
      await client.invalidateQueries({ queryKey: exportDestinationQuery.queryKey });
      await client.invalidateQueries({ queryKey: EXPORT_DELIVERIES });
    },
  });
  const isComplete = FIELDS.every(({ name, required }) => required !== true || draft[name].trim() !== '');
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    set.mutate();
  };
  return (
    <Modal
      title="Write exports to a bucket"
      open
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={formId} busy={set.isPending} disabled={!isComplete}>
            Set the bucket
          </Button>
        </>
      }
    >
      <form id={formId} className="export-form" onSubmit={submit}>
        {FIELDS.map(({ name, label, note, type = 'text' }) => (
          <Field key={name} label={label} note={note}>
            {(ids) => (
              <input
                {...ids}
                className="input"
                type={type}
                autoComplete="off"
                value={draft[name]}
                onChange={(event) => setDraft({ ...draft, [name]: event.target.value })}
              />
            )}
          </Field>
        ))}
        {set.isError && <ErrorNote error={set.error} title="The bucket was not set" />}
      </form>
    </Modal>
  );
}
