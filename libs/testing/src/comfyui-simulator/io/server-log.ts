/** Standard output as ComfyUI wraps it: a `print` waits until a line of the log flushes it. */
export class ServerLog {
  private held: { t: string; m: string }[] = [];
  private readonly recent: { t: string; m: string }[] = [];

  constructor(
    private readonly onFlush: (entries: { t: string; m: string }[]) => void,
    private readonly toStdout: (text: string) => void,
  ) {}

  /** The last 300 writes. */
  get entries(): readonly { t: string; m: string }[] {
    return this.recent;
  }

  print(text: string): void {
    const entry = { t: new Date().toISOString().replace('Z', ''), m: text };
    this.held.push(entry);
    this.recent.push(entry);
    if (this.recent.length > 300) this.recent.shift();
  }

  log(text: string): void {
    this.print(text);
    const entries = this.held;
    this.held = [];
    this.onFlush(entries);
    this.toStdout(entries.map(({ m }) => m).join(''));
  }
}
