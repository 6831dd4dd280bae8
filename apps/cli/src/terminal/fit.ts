import { type Cell, normal, width } from './table';

/** The least width of a column that is cut. */
const LEAST = 12;
/** Between columns, and in front of the first. */
const GAP = 2;
const ID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{4}([\da-f]{8})/g;
/** What a cell without a value shows. */
const BLANK = ['', '–'];

type Column = Exclude<Cell, string>[];

/** A table as wide as a terminal. */
export interface Fitted {
  rows: Cell[][];
  /** Titles of the columns that have no room. */
  leftOut: string[];
}

/**
 * Fit a table into a terminal, so that no line of it wraps. Columns without any value go first. If that is not enough, ids lose all but their
 * last eight digits, long texts are cut, and columns at the right are left out. The first column stays as it is: its ids are what other commands are
 * given.
 *
 * @param rows the titles first; all of one length.
 * @param columns of the terminal.
 */
export function fitted(rows: Cell[][], columns: number): Fitted {
  const all = columnsOf(rows).filter((cells, at) => at === 0 || !cells.slice(1).every(isBlank));
  if (total(all.map(widthOf)) <= columns) return { rows: rowsOf(all), leftOut: [] };
  const short = all.map((cells, at) => (at === 0 ? cells : cells.map(withShortIds)));
  let room = short.length;
  while (room > 1 && total(short.slice(0, room).map(leastOf)) > columns) room -= 1;
  const kept = short.slice(0, room);
  const widths = kept.map(widthOf);
  while (total(widths) > columns) {
    const widest = widestOf(kept, widths);
    if (widest === null) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  const cut = kept.map((cells, at) => cells.map((cell) => ({ ...cell, text: cutTo(cell.text, widths[at] ?? 0) })));
  return { rows: rowsOf(cut), leftOut: short.slice(room).map(([title]) => title?.text ?? '') };
}

function columnsOf(rows: Cell[][]): Column[] {
  return (rows[0] ?? []).map((_, at) => rows.map((row) => normal(row[at] ?? '')));
}

function rowsOf(columns: Column[]): Cell[][] {
  return (columns[0] ?? []).map((_, at) => columns.map((cells) => cells[at] ?? ''));
}

function isBlank({ text }: Exclude<Cell, string>): boolean {
  return BLANK.includes(text);
}

function withShortIds(cell: Exclude<Cell, string>): Exclude<Cell, string> {
  return { ...cell, text: cell.text.replace(ID, '…$1') };
}

function total(widths: number[]): number {
  return widths.reduce((sum, each) => sum + GAP + each, 0);
}

function widthOf(cells: Column): number {
  return Math.max(...cells.map(({ text }) => width(text)));
}

/** The first column, numbers and short ids are not cut, nor is a title. */
function leastOf(cells: Column, at: number): number {
  const isWhole = at === 0 || cells.some(({ text, align }) => align === 'right' || /…[\da-f]{8}$/.test(text));
  return isWhole ? widthOf(cells) : Math.min(widthOf(cells), Math.max(LEAST, width(cells[0]?.text ?? '')));
}

/** Of those that can still be cut. */
function widestOf(columns: Column[], widths: number[]): number | null {
  const free = columns.map((cells, at) => ((widths[at] ?? 0) > leastOf(cells, at) ? (widths[at] ?? 0) : 0));
  const most = Math.max(...free);
  return most > 0 ? free.indexOf(most) : null;
}

/** A text of at most so many columns. */
export function cutTo(text: string, columns: number): string {
  return width(text) <= columns ? text : `${[...text].slice(0, columns - 1).join('')}…`;
}
