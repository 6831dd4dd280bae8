import type { Host } from '../process';
import { size } from './format';
import { type Palette, paletteFor } from './palette';
import { plainLine } from './terminal-text';

/** Smaller files are there before their progress is read. */
const SHOWN_FROM_BYTES = 10_000_000;
/** In a log or a pipe a line is written for this many per cent. */
const PERCENT_PER_LINE = 10;
const CLEAR_LINE = '\r\u001b[K';

/** How far the upload of a file is: on a terminal one line that is drawn again, elsewhere a line every few per cent. */
export class TransferView {
  private readonly paint: Palette;
  private shown = '';
  private isDrawn = false;

  constructor(
    private readonly host: Pick<Host, 'stderr' | 'env'>,
    private readonly name: string,
  ) {
    this.paint = paletteFor(host.stderr, host.env);
  }

  moved(step: 'reading' | 'sending', bytes: number, wholeBytes: number): void {
    if (wholeBytes < SHOWN_FROM_BYTES) return;
    const { isTTY } = this.host.stderr;
    const whole = Math.floor((bytes / wholeBytes) * 100);
    const percent = isTTY ? whole : whole - (whole % PERCENT_PER_LINE);
    // Without a terminal the hash is computed in silence: it takes seconds.
    if (`${step} ${percent}` === this.shown || (step === 'reading' && !isTTY)) return;
    this.shown = `${step} ${percent}`;
    const facts = `${step === 'reading' ? 'computing its hash, ' : ''}${size(bytes)} of ${size(wholeBytes)}`;
    this.write(
      `${this.paint.accent('↑')} ${plainLine(this.name)} ${String(whole).padStart(3)}%  ${this.paint.faint(facts)}`,
    );
  }

  interrupted(reason: string): void {
    this.close();
    this.shown = '';
    this.host.stderr.write(`${this.paint.warn('■')} ${plainLine(reason)} The upload goes on by itself.\n`);
  }

  /** Take the line away. */
  close(): void {
    if (this.isDrawn) this.host.stderr.write(CLEAR_LINE);
    this.isDrawn = false;
  }

  private write(line: string): void {
    if (!this.host.stderr.isTTY) {
      this.host.stderr.write(`${line}\n`);
      return;
    }
    this.isDrawn = true;
    this.host.stderr.write(`${CLEAR_LINE}${line}`);
  }
}

/** Run an upload with its progress shown. */
export async function showTransfer<T>(
  host: Pick<Host, 'stderr' | 'env'>,
  name: string,
  run: (view: TransferView) => Promise<T>,
): Promise<T> {
  const view = new TransferView(host, name);
  try {
    return await run(view);
  } finally {
    view.close();
  }
}
