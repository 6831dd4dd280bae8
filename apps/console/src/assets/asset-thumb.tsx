import { useState, type ReactNode } from 'react';
import type { Asset } from '@millrace/contracts';
import { Icon } from '../ui/controls/icon';
import { isThumbnail } from '../ui/media';

/**
 * An asset at a glance: a picture that is safe to draw, else its type. A picture that cannot be drawn is shown as its type, too.
 */
export function AssetThumb({ asset }: { asset: Asset }): ReactNode {
  const [isBroken, setIsBroken] = useState(false);
  if (isThumbnail(asset) && !isBroken) {
    return (
      <span className="asset-thumb" aria-hidden="true">
        <img src={asset.url} alt="" loading="lazy" decoding="async" onError={() => setIsBroken(true)} />
      </span>
    );
  }
  return (
    <span className="asset-thumb" aria-hidden="true">
      <Icon name="file" size={24} />
      <span className="small clip">{asset.content_type}</span>
    </span>
  );
}
