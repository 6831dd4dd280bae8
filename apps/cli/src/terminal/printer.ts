import type { Host } from '../process';
import { cutTo, fitted } from './fit';
import { type Palette, paletteFor, type Style } from './palette';
import { type Cell, tableLines } from './table';
import { safeJson, safeJsonText } from './terminal-text';

/** Prints results to standard output and everything else to standard error. */
export class Printer {
  /** Styles for standard output. */
  readonly paint: Palette;
  /** Styles for standard error. */
  readonly paintNote: Palette;

  constructor(private readonly host: Pick<Host, 'stdout' | 'stderr' | 'env'>) {
    this.paint = paletteFor(host.stdout, host.env);
    this.paintNote = paletteFor(host.stderr, host.env);
  }

  /** Lines of a result; foreign text in them must be sanitized already (`plainLine`). */
  lines(lines: readonly string[]): void {
    if (lines.length > 0) this.host.stdout.write(`${lines.join('\n')}\n`);
  }

  /** Columns of the terminal that standard output is; null where it is none. */
  get columns(): number | null {
    const { isTTY, columns } = this.host.stdout;
    return isTTY === true && columns ? columns : null;
  }

  /**
   * A table. On a terminal it is as wide as that, and what has no room is named; in a pipe or a file it is whole.
   *
   * @param none what is printed where there is no row.
   */
  table(titles: string[], rows: Cell[][], none: string): void {
    if (rows.length === 0) return this.lines([`  ${this.paint.faint(none)}`]);
    const isNumber = titles.map((_, at) =>
      rows.some((row) => typeof row[at] === 'object' && row[at].align === 'right'),
    );
    const aligned = (cells: Cell[], style?: Style): Cell[] =>
      cells.map((cell, at) => ({
        ...(typeof cell === 'string' ? { text: cell, style } : cell),
        ...(isNumber[at] === true && { align: 'right' as const }),
      }));
    const all = [aligned(titles, this.paint.faint), ...rows.map((row) => aligned(row))];
    if (this.columns === null) return this.lines(tableLines(all));
    const { rows: shown, leftOut } = fitted(all, this.columns);
    this.lines(tableLines(shown));
    if (leftOut.length > 0)
      this.notes(this.paintNote.faint(cutTo(`--json shows more: ${leftOut.join(', ')}`, this.columns)));
  }

  /** A result for a program. */
  json(value: unknown): void {
    this.host.stdout.write(`${safeJson(value)}\n`);
  }

  /** The same of a JSON text, whose numbers keep their digits. */
  jsonText(text: string): void {
    this.host.stdout.write(`${safeJsonText(text)}\n`);
  }

  /** Text for a program, byte for byte. */
  raw(text: string): void {
    this.host.stdout.write(text);
  }

  notes(...lines: string[]): void {
    for (const line of lines) this.host.stderr.write(`${line}\n`);
  }
}
