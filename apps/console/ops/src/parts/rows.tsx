import { useCallback, useEffect, useState, type ReactNode } from 'react';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { Button } from '../../../src/ui/controls/button';
import './rows.css';

const ROW_PX = 48;
/** Rows drawn beyond what is seen, and how near the end the next page is asked for. */
const AHEAD = 12;

/** One column: its name, and what a row shows there. */
export interface Column<T> {
  name: string;
  cell: (row: T) => ReactNode;
  /** Figures stand at the right. */
  right?: true;
}

interface RowsProps<T> {
  label: string;
  /** Names the widths of the columns in `rows.css`. */
  kind: 'queues' | 'workers' | 'pools' | 'failures' | 'accounts' | 'deployments' | 'operators';
  rows: readonly T[];
  keyOf: (row: T) => string;
  columns: readonly Column<T>[];
  /** The next page of a list that comes in pages. One that was refused is asked for again by hand. */
  more?: { has: boolean; loading: boolean; failed: boolean; load: () => void };
}

/** A table of any number of rows: only those in view exist. On a phone each row is a card that names its columns. */
export function Rows<T>({ label, kind, rows, keyOf, columns, more }: RowsProps<T>): ReactNode {
  const [topPx, setTopPx] = useState(0);
  const body = useCallback((element: HTMLDivElement | null) => setTopPx(element?.offsetTop ?? 0), []);
  const view = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_PX,
    overscan: AHEAD,
    scrollMargin: topPx,
    getItemKey: (index) => {
      const row = rows[index];
      return row === undefined ? index : keyOf(row);
    },
  });
  const shown = view.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (more?.has && !more.loading && !more.failed && last >= rows.length - AHEAD) more.load();
  }, [more, last, rows.length]);
  return (
    <div
      className={`panel rows ${kind}`}
      role="table"
      aria-label={label}
      aria-rowcount={more?.has ? -1 : rows.length + 1}
    >
      <div className="row head" role="row">
        {columns.map(({ name, right }) => (
          <span key={name} role="columnheader" className={right ? 'right' : ''}>
            {name}
          </span>
        ))}
      </div>
      <div ref={body} role="rowgroup" className="rows-body" style={{ height: view.getTotalSize() }}>
        {shown.map(({ index, key, start }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <div
              key={key}
              ref={view.measureElement}
              data-index={index}
              className="row"
              role="row"
              aria-rowindex={index + 2}
              style={{ transform: `translateY(${start - topPx}px)` }}
            >
              {columns.map(({ name, cell, right }) => (
                <div key={name} role="cell" className={right ? 'right number' : ''} data-name={name}>
                  {cell(row)}
                </div>
              ))}
            </div>
          );
        })}
      </div>
      {more?.loading && (
        <p className="panel-note soft small" role="status">
          Loading more …
        </p>
      )}
      {more?.failed && (
        <p className="panel-note soft small" role="alert">
          The next page could not be read. <Button onClick={more.load}>Try again</Button>
        </p>
      )}
    </div>
  );
}
