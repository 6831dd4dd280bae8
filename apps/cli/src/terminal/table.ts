import type { Style } from './palette';
import { plainLine } from './terminal-text';

/** Text of any origin, with its style. */
export type Cell = string | { text: string; style?: Style; align?: 'right' | undefined };

const GAP = '  ';

/**
 * Lines of aligned columns, indented by two. Cells are sanitized here, so callers may pass what the service sent.
 * A last column that is aligned to the left is not padded.
 */
export function tableLines(rows: Cell[][]): string[] {
  const cells = rows.map((row) => row.map(normal));
  const widths: number[] = [];
  for (const row of cells)
    row.forEach(({ text }, column) => (widths[column] = Math.max(widths[column] ?? 0, width(text))));
  return cells.map((row) => {
    const shown = row.map((cell, column) =>
      padded(cell, column === row.length - 1 && cell.align !== 'right' ? 0 : (widths[column] ?? 0)),
    );
    return `${GAP}${shown.join(GAP)}`.trimEnd();
  });
}

/** A cell, sanitized. */
export function normal(cell: Cell): Exclude<Cell, string> {
  return typeof cell === 'string' ? { text: plainLine(cell) } : { ...cell, text: plainLine(cell.text) };
}

function padded({ text, style, align }: Exclude<Cell, string>, to: number): string {
  const blank = ' '.repeat(Math.max(0, to - width(text)));
  const shown = style ? style(text) : text;
  return align === 'right' ? blank + shown : shown + blank;
}

/** In columns of a terminal. */
export function width(text: string): number {
  return [...text].length;
}
