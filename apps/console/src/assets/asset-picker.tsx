import { useState, type ReactNode } from 'react';
import { useInfiniteQuery } from '@tanstack/react-query';
import type { Asset } from '@millrace/contracts';
import { assetListQuery, type AssetFilter } from '../api/assets';
import { Button } from '../ui/controls/button';
import { Modal } from '../ui/controls/modal';
import { ErrorNote } from '../ui/display/error-note';
import { Skeleton } from '../ui/display/skeleton';
import { AssetCard } from './asset-card';
import './assets.css';

interface AssetPickerProps {
  /** What the content type begins with; undefined for any. */
  contentType: string | undefined;
  onPick: (asset: Asset) => void;
  onClose: () => void;
}

/** Chooses one of the account's assets: an upload, or what a job made. */
export function AssetPicker({ contentType, onPick, onClose }: AssetPickerProps): ReactNode {
  const [kind, setKind] = useState<AssetFilter['kind']>('upload');
  const list = useInfiniteQuery(assetListQuery({ kind, contentType }));
  const assets = list.data?.pages.flatMap((page) => page.assets) ?? [];
  return (
    <Modal title="Choose a file" open onClose={onClose}>
      <select
        className="input"
        aria-label="Made by"
        value={kind}
        onChange={(event) => setKind(event.target.value === 'output' ? 'output' : 'upload')}
      >
        <option value="upload">Uploads</option>
        <option value="output">Outputs of jobs</option>
      </select>
      {list.isError && <ErrorNote error={list.error} onRetry={() => list.refetch()} />}
      {list.isPending && <Skeleton lines={4} />}
      {list.isSuccess && assets.length === 0 && !list.hasNextPage && <p className="soft">There is no such file yet.</p>}
      <ul className="asset-picker" aria-label="Files">
        {assets.map((asset) => (
          <li key={asset.id}>
            <AssetCard asset={asset} verb="Choose" onPress={() => onPick(asset)} />
          </li>
        ))}
      </ul>
      {list.hasNextPage && (
        <Button busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show older files
        </Button>
      )}
    </Modal>
  );
}
