import { isTerminal, type Progress } from '@millrace/contracts';
import type { Job } from '../client';
import type { Host } from '../process';
import { type Palette, paletteFor } from '../terminal';
import type { Connection } from './job-follower';
import { ObservedNodes } from './observed-nodes';
import { frameLines, type ProgressState } from './progress-frame';
import type { ProgressView } from './progress-view';

const TICK_MS = 1000;
const HIDE_CURSOR = '\u001b[?25l';
export const SHOW_CURSOR = '\u001b[?25h';
/** Automatic wrapping off and on: the terminal, which alone knows its width, cuts a line that is too long. */
const WRAP_OFF = '\u001b[?7l';
const WRAP_ON = '\u001b[?7h';

/** Lines at the bottom of the terminal, redrawn at every change and once a second, and removed when it closes. */
export class LiveProgressView implements ProgressView {
  readonly nodes = new ObservedNodes();
  private readonly paint: Palette;
  private job: Pick<ProgressState, 'status' | 'queuePosition' | 'sinceMs'> | null = null;
  private connection: Connection | null = null;
  private drawn: string[] = [];
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly host: Host) {
    this.paint = paletteFor(host.stderr, host.env);
  }

  onJob(job: Job): void {
    if (job.progress) this.nodes.see(job.progress, this.host.nowMs());
    if (isTerminal(job.status)) return this.close();
    const sinceMs = this.job?.status === job.status ? this.job.sinceMs : this.host.nowMs();
    this.job = { status: job.status, queuePosition: job.queue_position, sinceMs };
    this.timer ??= setInterval(() => this.draw(), TICK_MS).unref();
    this.draw();
  }

  onProgress(progress: Progress): void {
    this.nodes.see(progress, this.host.nowMs());
    this.draw();
  }

  onOutput(): void {
    this.draw();
  }

  onConnection(connection: Connection): void {
    this.connection = connection;
    this.draw();
  }

  note(line: string): void {
    this.host.stderr.write(`${this.erasing()}${line}\n`);
    this.drawn = [];
    this.draw();
  }

  close(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.job = null;
    if (this.drawn.length > 0) this.host.stderr.write(this.erasing() + SHOW_CURSOR);
    this.drawn = [];
  }

  private draw(): void {
    if (!this.job) return;
    const { latest: progress, active } = this.nodes;
    const state = { ...this.job, progress, active, done: this.nodes.times(), connection: this.connection };
    const lines = frameLines(state, this.host.stderr.columns ?? 80, this.host.nowMs(), this.paint);
    if (lines.length === this.drawn.length && lines.every((line, at) => line === this.drawn[at])) return;
    this.host.stderr.write(`${HIDE_CURSOR}${this.erasing()}${WRAP_OFF}${lines.join('\n')}\n${WRAP_ON}`);
    this.drawn = lines;
  }

  private erasing(): string {
    return this.drawn.length > 0 ? `\u001b[${this.drawn.length}A\r\u001b[J` : '';
  }
}
