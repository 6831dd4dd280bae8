import { useState, type ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Asset } from '@millrace/contracts';
import { assetQuery } from '../api/assets';
import { useSession } from '../shell/session-context';
import { Button } from '../ui/controls/button';
import { CopyButton } from '../ui/controls/copy-button';
import { Icon } from '../ui/controls/icon';
import { Modal } from '../ui/controls/modal';
import { ErrorNote } from '../ui/display/error-note';
import { Fact, Facts } from '../ui/display/facts';
import { Skeleton } from '../ui/display/skeleton';
import { Ago } from '../ui/display/time';
import { formatBytes, shortId } from '../ui/format';
import { nameOf } from './asset-name';
import { AssetPreview } from './asset-preview';
import { DeleteAsset } from './delete-asset';

/** An asset: what is in it, where it comes from, how long it stays, and what can be done with it. */
export function AssetDetails({ id, onClose }: { id: string; onClose: () => void }): ReactNode {
  const { data: asset, error } = useQuery(assetQuery(id));
  const [deleting, setDeleting] = useState(false);
  if (asset !== undefined && deleting) {
    return <DeleteAsset asset={asset} onDeleted={onClose} onClose={() => setDeleting(false)} />;
  }
  return (
    <Modal
      title={asset === undefined ? 'Asset' : nameOf(asset)}
      open
      onClose={onClose}
      actions={asset !== undefined && <Actions asset={asset} onDelete={() => setDeleting(true)} />}
    >
      {error !== null && <ErrorNote error={error} />}
      {asset === undefined && error === null && <Skeleton lines={6} />}
      {asset !== undefined && <Body asset={asset} />}
    </Modal>
  );
}

function Actions({ asset, onDelete }: { asset: Asset; onDelete: () => void }): ReactNode {
  const { may } = useSession();
  return (
    <>
      {may('assets:write') && asset.job_id === undefined && (
        <Button kind="danger" icon={<Icon name="bin" />} onClick={onDelete}>
          Delete
        </Button>
      )}
      <a className="button" href={asset.url} download={nameOf(asset)}>
        <Icon name="download" />
        Download
      </a>
      {may('jobs:write') && (
        <Link className="button primary" to="/new" search={{ asset: asset.id }}>
          <Icon name="plus" />
          Use in a new job
        </Link>
      )}
    </>
  );
}

function Body({ asset }: { asset: Asset }): ReactNode {
  const { id, job_id: jobId, tags } = asset;
  return (
    <>
      <AssetPreview asset={asset} />
      <Facts>
        <Fact name="Id">
          <span className="mono">{shortId(id)}</span> <CopyButton text={id} label="Copy the id" />
        </Fact>
        <Fact name="Size">{formatBytes(asset.size_bytes)}</Fact>
        <Fact name="Type">{asset.content_type}</Fact>
        <Fact name={jobId === undefined ? 'Uploaded' : 'Made'}>
          <Ago at={asset.created_at} />
        </Fact>
        <Fact name="Kept">
          <Kept asset={asset} />
        </Fact>
        {jobId !== undefined && (
          <Fact name="Made by">
            <Link to="/jobs/$jobId" params={{ jobId }} className="mono">
              {shortId(jobId)}
            </Link>
          </Fact>
        )}
        {tags.length > 0 && <Fact name="Tags">{tags.join(', ')}</Fact>}
      </Facts>
    </>
  );
}

/** An output goes with its job; an upload at its time, if it has one. */
function Kept({ asset: { job_id: jobId, expires_at: at } }: { asset: Asset }): ReactNode {
  if (at === null) return 'until you delete it';
  return (
    <>
      {jobId === undefined ? 'until ' : 'with its job, until '}
      <Ago at={at} />
    </>
  );
}
