interface LogEntry {
  t: string;
  m: string;
}

/** Standard output as ComfyUI wraps it: a `print` waits until a line of the log flushes it. */
export class ServerLog {
  private held: LogEntry[] = [];
  private readonly recent: LogEntry[] = [];

  constructor(
    private readonly onFlush: (entries: LogEntry[]) => void,
    private readonly toStdout: (text: string) => void,
    /** Each line of the log has its level in front, in colour, as later versions write it. */
    private readonly tagsLevels: boolean,
  ) {}

  /** The last 300 writes. */
  get entries(): readonly LogEntry[] {
    return this.recent;
  }

  print(text: string): void {
    const entry = { t: new Date().toISOString().replace('Z', ''), m: text };
    this.held.push(entry);
    this.recent.push(entry);
    if (this.recent.length > 300) this.recent.shift();
  }

  /** A line of the logger. */
  log(line: string, colour?: 'green'): void {
    if (!this.tagsLevels) return this.write(line);
    const message = colour === undefined ? line : `\u001b[32m${line.trimEnd()}\u001b[0m\n`;
    this.write(`\u001b[32m[INFO]\u001b[0m ${message}`);
  }

  /** Text that goes out at once, with what was held back, as the interpreter itself writes it. */
  write(text: string): void {
    this.print(text);
    const entries = this.held;
    this.held = [];
    this.onFlush(entries);
    this.toStdout(entries.map(({ m }) => m).join(''));
  }
}
