import type { ReactNode } from 'react';
import type { Asset } from '@millrace/contracts';
import { formatBytes } from '../ui/format';
import { Ago } from '../ui/display/time';
import { nameOf } from './asset-name';
import { AssetThumb } from './asset-thumb';

interface AssetCardProps {
  asset: Asset;
  /** What a press does: `Look at`, `Choose`. */
  verb: string;
  onPress: () => void;
}

/** An asset in a gallery: one button. */
export function AssetCard({ asset, verb, onPress }: AssetCardProps): ReactNode {
  const name = nameOf(asset);
  return (
    <button type="button" className="asset-card" onClick={onPress}>
      <span className="unseen">{verb}</span>
      <AssetThumb key={asset.id} asset={asset} />
      <bdi className="clip asset-card-name" title={asset.file_path ?? asset.id}>
        {name}
      </bdi>
      <span className="small soft clip">
        {formatBytes(asset.size_bytes)} · <Ago at={asset.created_at} />
      </span>
    </button>
  );
}
