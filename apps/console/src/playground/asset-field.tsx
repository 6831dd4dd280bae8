import { useState, type ReactNode } from 'react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { asApiError } from '../api/api-error';
import { assetQuery } from '../api/assets';
import { uploadAsset } from '../api/upload/upload-asset';
import type { UploadProgress } from '../api/upload/upload-progress';
import { nameOf } from '../assets/asset-name';
import { AssetPicker } from '../assets/asset-picker';
import { DropArea } from '../assets/drop-area';
import { UploadButton } from '../ui/uploads/upload-button';
import { Button } from '../ui/controls/button';
import { Field } from '../ui/controls/field';
import { Bar } from '../ui/display/bar';
import { shortId } from '../ui/format';
import { contentOf, referenceTo, referredAsset } from './asset-reference';

interface AssetFieldProps {
  name: string;
  /** What the node reads: image, video, audio, latent, or any. */
  kind: string;
  json: string | null;
  fault: string | undefined;
  deployment: string | undefined;
  onChange: (json: string) => void;
}

/** An input file: an asset that the account has, or a file that is dropped or chosen and uploaded at once. */
export function AssetField({ name, kind, json, fault, deployment, onChange }: AssetFieldProps): ReactNode {
  const [progress, setProgress] = useState<UploadProgress>({ step: 'hashing', share: 0 });
  const [choosing, setChoosing] = useState(false);
  const upload = useMutation({
    mutationFn: (file: File) => uploadAsset(deployment, file, setProgress),
  });
  const take = ([file]: File[]): void => {
    if (file === undefined) return;
    setProgress({ step: 'hashing', share: 0 });
    // What is given here is called only while the field is there, of the file that was taken last.
    upload.mutate(file, { onSuccess: ({ asset }) => onChange(referenceTo(asset.id)) });
  };
  const error = upload.isError ? asApiError(upload.error).message : fault;
  const known = upload.isSuccess && upload.data.known && upload.data.asset.id === referredAsset(json);
  const contentType = contentOf(kind);
  return (
    <Field label={name} error={error} note={known ? 'These bytes were stored already.' : undefined}>
      {(ids) => (
        <DropArea onFiles={take}>
          <span className="asset-field">
            <bdi className="clip small">
              {upload.isPending ? `${upload.variables.name}: ${TEXTS[progress.step]}` : <FileName json={json} />}
            </bdi>
            {upload.isPending && <Bar value={progress.share} label={`Upload of ${upload.variables.name}`} />}
            <Button {...ids} onClick={() => setChoosing(true)}>
              Choose
            </Button>
            <UploadButton
              label={`File for ${name}`}
              accept={contentType && `${contentType}*`}
              busy={upload.isPending}
              onFiles={take}
            >
              Upload
            </UploadButton>
          </span>
          {choosing && (
            <AssetPicker
              contentType={contentType}
              onClose={() => setChoosing(false)}
              onPick={({ id }) => {
                onChange(referenceTo(id));
                setChoosing(false);
              }}
            />
          )}
        </DropArea>
      )}
    </Field>
  );
}

const TEXTS = { hashing: 'checking', sending: 'sending', interrupted: 'waiting for the connection' } as const;

/** What stands in the graph: an asset's name, or a file name that no asset stands for yet. */
function FileName({ json }: { json: string | null }): ReactNode {
  const id = referredAsset(json);
  const asset = useQuery({ ...assetQuery(id ?? ''), enabled: id !== undefined });
  if (id === undefined) return json === null || json === '""' ? 'No file yet' : json;
  if (asset.isError) return `No asset ${shortId(id)} any more`;
  return asset.data === undefined ? `Asset ${shortId(id)}` : nameOf(asset.data);
}
