import { useCallback, useEffect, useState, type ReactNode } from 'react';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import type { Asset } from '@millrace/contracts';
import { AssetCard } from './asset-card';

/** As in assets.css. */
const CARD_PX = 148;
const GAP_PX = 12;
const ROW_PX = 202;
/** Rows drawn beyond what is seen, and how near the end the next page is asked for. */
const AHEAD = 3;

interface AssetGalleryProps {
  assets: Asset[];
  /** Whether the next page is to be read as the end comes near. */
  more: boolean;
  onMore: () => void;
  onOpen: (asset: Asset) => void;
}

/** Any number of assets: only the rows in view exist. */
export function AssetGallery({ assets, more, onMore, onOpen }: AssetGalleryProps): ReactNode {
  const [box, setBox] = useState({ topPx: 0, widthPx: CARD_PX });
  const grid = useCallback((element: HTMLUListElement | null) => {
    if (element === null) return;
    const measure = (): void => setBox({ topPx: element.offsetTop, widthPx: element.clientWidth });
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const columns = Math.max(1, Math.floor((box.widthPx + GAP_PX) / (CARD_PX + GAP_PX)));
  const rows = useWindowVirtualizer({
    count: Math.ceil(assets.length / columns),
    estimateSize: () => ROW_PX,
    overscan: AHEAD,
    scrollMargin: box.topPx,
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  const nearEnd = (last + AHEAD + 1) * columns >= assets.length;
  useEffect(() => {
    if (more && nearEnd) onMore();
  }, [more, nearEnd, onMore]);
  return (
    <ul ref={grid} className="asset-gallery" aria-label="Assets" style={{ height: rows.getTotalSize() }}>
      {shown.flatMap(({ index: row, start }) =>
        assets.slice(row * columns, (row + 1) * columns).map((asset, column) => (
          <li
            key={asset.id}
            aria-setsize={more ? -1 : assets.length}
            aria-posinset={row * columns + column + 1}
            style={{
              width: `calc((100% - ${(columns - 1) * GAP_PX}px) / ${columns})`,
              left: `calc((100% + ${GAP_PX}px) / ${columns} * ${column})`,
              transform: `translateY(${start - box.topPx}px)`,
            }}
          >
            <AssetCard asset={asset} verb="Look at" onPress={() => onOpen(asset)} />
          </li>
        )),
      )}
    </ul>
  );
}
