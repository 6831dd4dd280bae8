import { logTail } from '@millrace/jobs';

/** Captured output of a run: its end, as long as `maxBytes` allow, in write order. */
export class LogTail {
  private chunks: string[] = [];
  private sizeBytes = 0;
  private cut = false;
  private appended = 0;

  constructor(private readonly maxBytes: number) {}

  /** How much was appended so far, the part that was left out included: it grows with everything that is printed. */
  get length(): number {
    return this.appended;
  }

  append(text: string): void {
    if (text === '') return;
    this.appended += text.length;
    this.chunks.push(text);
    this.sizeBytes += Buffer.byteLength(text);
    // Cutting costs a copy of the whole; once in a while is enough.
    if (this.sizeBytes > 2 * this.maxBytes) this.trim();
  }

  /** The tail, and whether anything was left out. A character is never cut in two. */
  read(): { text: string; truncated: boolean } {
    if (this.sizeBytes > this.maxBytes) this.trim();
    return { text: this.chunks.join(''), truncated: this.cut };
  }

  private trim(): void {
    const { text } = logTail({ text: this.chunks.join(''), truncated: true }, this.maxBytes);
    this.chunks = [text];
    this.sizeBytes = Buffer.byteLength(text);
    this.cut = true;
  }
}
