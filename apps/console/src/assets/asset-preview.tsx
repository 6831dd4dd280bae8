import type { ReactNode } from 'react';
import type { Asset } from '@millrace/contracts';
import { OutputText } from '../job/outputs/output-text';
import { Icon } from '../ui/controls/icon';
import { isPicture, isReadable } from '../ui/media';
import { nameOf } from './asset-name';

/** An asset as it can be shown safely: documents that could hold scripts (SVG, HTML) are their source, never rendered. */
export function AssetPreview({ asset }: { asset: Asset }): ReactNode {
  const { content_type: type, url } = asset;
  const name = nameOf(asset);
  if (isPicture(asset)) return <img className="asset-preview" src={url} alt={name} />;
  if (type.startsWith('video/')) {
    return <video className="asset-preview" src={url} controls preload="metadata" aria-label={name} />;
  }
  if (type.startsWith('audio/')) {
    return <audio className="asset-preview" src={url} controls preload="metadata" aria-label={name} />;
  }
  if (isReadable(asset)) return <OutputText output={asset} />;
  return (
    <span className="asset-thumb">
      <Icon name="file" size={24} />
      <span className="small">{type}</span>
    </span>
  );
}
