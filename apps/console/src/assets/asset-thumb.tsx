import { useState, type ReactNode } from 'react';
import type { Asset } from '@millrace/contracts';
import { Icon } from '../ui/controls/icon';
import { isPicture } from '../ui/media';

/** A larger picture is not read for a thumbnail. */
const SHOWN_BYTES = 20_000_000;

/**
 * An asset at a glance: a picture that is safe to draw, else its type. The link is the one that it was first shown with, so that a
 * list that is read again does not fetch its pictures again. A picture that cannot be drawn is shown as its type, too.
 */
export function AssetThumb({ asset }: { asset: Asset }): ReactNode {
  const [url] = useState(asset.url);
  const [isBroken, setIsBroken] = useState(false);
  if (isPicture(asset) && asset.size_bytes <= SHOWN_BYTES && !isBroken) {
    return (
      <span className="asset-thumb" aria-hidden="true">
        <img src={url} alt="" loading="lazy" decoding="async" onError={() => setIsBroken(true)} />
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
