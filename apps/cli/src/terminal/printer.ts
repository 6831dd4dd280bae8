import type { Host } from '../process';
import { type Palette, paletteFor } from './palette';
import { safeJson } from './terminal-text';

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

  /** A result for a program. */
  json(value: unknown): void {
    this.host.stdout.write(`${safeJson(value)}\n`);
  }

  /** Text for a program, byte for byte. */
  raw(text: string): void {
    this.host.stdout.write(text);
  }

  notes(...lines: string[]): void {
    for (const line of lines) this.host.stderr.write(`${line}\n`);
  }
}
