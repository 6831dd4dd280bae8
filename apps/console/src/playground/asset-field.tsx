import { useRef, useState, type ReactNode } from 'react';
import { useMutation } from '@tanstack/react-query';
import { asApiError } from '../api/api-error';
import { uploadAsset } from '../api/upload-asset';
import { Bar } from '../ui/display/bar';
import { Button } from '../ui/controls/button';
import { Field } from '../ui/controls/field';
import { Icon } from '../ui/controls/icon';

interface AssetFieldProps {
  name: string;
  /** What the node reads: image, video, audio, latent, or any. */
  kind: string;
  json: string | null;
  fault: string | undefined;
  deployment: string | undefined;
  onChange: (json: string) => void;
}

/** An input file: chosen or dropped, uploaded at once, and referred to by its asset. */
export function AssetField({ name, kind, json, fault, deployment, onChange }: AssetFieldProps): ReactNode {
  const picker = useRef<HTMLInputElement>(null);
  const [share, setShare] = useState(0);
  const upload = useMutation({
    mutationFn: (file: File) => uploadAsset(deployment, file, setShare),
    onSuccess: ({ id }) => onChange(JSON.stringify({ __type: 'core/ASSET', info: { id } })),
  });
  const take = (file: File | undefined): void => {
    if (file === undefined) return;
    setShare(0);
    upload.mutate(file);
  };
  const error = upload.isError ? asApiError(upload.error).message : fault;
  const known = upload.isSuccess && upload.data.created_new === false ? 'These bytes were stored already.' : undefined;
  return (
    <Field label={name} error={error} note={known}>
      {(ids) => (
        <span
          className="asset-field"
          onDragOver={(event) => event.preventDefault()}
          onDrop={(event) => {
            event.preventDefault();
            take(event.dataTransfer.files[0]);
          }}
        >
          <span className="clip small">
            {upload.isPending ? upload.variables.name : upload.isSuccess ? upload.variables.name : assetName(json)}
          </span>
          {upload.isPending && <Bar value={share} label={`Upload of ${upload.variables.name}`} />}
          <Button icon={<Icon name="upload" />} busy={upload.isPending} onClick={() => picker.current?.click()}>
            Upload
          </Button>
          <input
            {...ids}
            ref={picker}
            type="file"
            className="unseen"
            tabIndex={-1}
            accept={['image', 'video', 'audio'].includes(kind) ? `${kind}/*` : undefined}
            onChange={(event) => take(event.target.files?.[0])}
          />
        </span>
      )}
    </Field>
  );
}

/** What stands in the graph: an asset's id, or a file name that no asset stands for yet. */
function assetName(json: string | null): string {
  if (json === null || json === '""') return 'No file yet';
  const value: unknown = JSON.parse(json);
  if (typeof value === 'string') return value;
  const { info } = value as { info?: { id?: string } };
  return `Asset ${info?.id?.slice(0, 8) ?? ''}…`;
}
