import { withoutTags } from '../protocol';
import { driverErrorIn } from './gpu-fault';
import { endToScrub } from './scrub';

/** ComfyUI's own words around a prompt; between them, what is printed is the prompt's. */
const BEGIN = /^got prompt$/;
const END = /^(.*)Prompt executed in [\d.:]+(?: seconds)?$/;
const THREAD_ENDED = /^Exception in thread .*\(prompt_worker\)/;

export interface RunLogListener {
  onText(text: string): void;
  /** The thread that runs prompts has ended. Only the log shows it. */
  onDeadThread(): void;
  /** The driver of the GPU reported what ends the process. Only the log shows it. */
  onDriverError(message: string): void;
}

export interface RunLogOptions {
  tailBytes: number;
  /** What an event's text is passed through: paths and secrets are taken out. */
  scrub: (text: string) => string;
  /** The server's word that it got a prompt is about this run; else only `begin` opens the log. */
  beginsAtPost: boolean;
  /** Between two events; what is printed faster is kept to its last `tailBytes`. */
  flushMs?: number;
}

/**
 * The output of one run, from a stream that carries the whole server's. Lines are passed on whole and in order, of a line
 * that was written over with carriage returns (progress bars) the last version.
 */
export class RunLog {
  private open = false;
  private ended = false;
  private partial = '';
  /** What was printed since it was last passed on. */
  private pending = '';
  private timer: NodeJS.Timeout | null = null;
  private readonly endWaiters: (() => void)[] = [];

  constructor(
    private readonly listener: RunLogListener,
    private readonly options: RunLogOptions,
  ) {}

  /** The run has begun, whether the log said so or not. */
  begin(): void {
    this.open = true;
  }

  write(text: string): void {
    if (this.ended) return;
    const lines = (this.partial + text).split('\n');
    this.partial = this.bounded(lines.pop() ?? '');
    for (const line of lines) this.line(line.endsWith('\r') ? line.slice(0, -1) : line);
  }

  /** Resolves when the log shows the run's end, or after `timeoutMs`. Text without a line break is passed on then. */
  async whenEnded(timeoutMs: number): Promise<void> {
    if (this.ended || !this.open) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.endWaiters.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Passes on what is left. Nothing comes after. */
  close(): void {
    if (!this.ended && this.open && this.partial !== '') this.keep(lastVersion(withoutTags(this.partial)));
    this.ended = true;
    this.flush();
  }

  private bounded(partial: string): string {
    const { scrub, tailBytes } = this.options;
    return partial.length > tailBytes ? scrub(endToScrub(partial, tailBytes)).slice(-tailBytes) : partial;
  }

  private line(written: string): void {
    if (this.ended) return;
    const line = withoutTags(written);
    if (THREAD_ENDED.test(line)) this.listener.onDeadThread();
    const driverError = driverErrorIn(line);
    if (driverError !== null) this.listener.onDriverError(driverError);
    if (!this.open) {
      this.open = this.options.beginsAtPost && BEGIN.test(line);
      return;
    }
    const end = END.exec(line);
    if (!end) {
      if (!BEGIN.test(line)) this.keep(`${lastVersion(line)}\n`);
      return;
    }
    if (end[1]) this.keep(lastVersion(end[1]));
    this.ended = true;
    for (const resolve of this.endWaiters) resolve();
  }

  private keep(text: string): void {
    const { flushMs, tailBytes } = this.options;
    this.pending += text;
    // Cut once in a while, by half at least: a line costs what it has of bytes, however many are kept.
    if (this.pending.length > 4 * tailBytes) this.pending = endToScrub(this.pending, tailBytes);
    this.timer ??= setTimeout(() => this.flush(), flushMs ?? 100);
  }

  private flush(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
    if (this.pending === '') return;
    const { scrub, tailBytes } = this.options;
    // Cut after scrubbing: half a secret would not be found.
    const text = tail(scrub(endToScrub(this.pending, tailBytes)), tailBytes);
    this.pending = '';
    this.listener.onText(text);
  }
}

function lastVersion(line: string): string {
  return line.slice(line.lastIndexOf('\r') + 1);
}

/** The last `bytes` of a text in UTF-8, cut between characters. */
function tail(text: string, bytes: number): string {
  const buffer = Buffer.from(text);
  if (buffer.length <= bytes) return text;
  let at = buffer.length - bytes;
  while (at < buffer.length && ((buffer[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return buffer.toString('utf8', at);
}
