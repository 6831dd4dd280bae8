import { isTerminal, type Progress } from '@millrace/contracts';
import type { Job } from '../client';
import type { Host } from '../process';
import { count } from '../terminal';
import type { Connection } from './job-follower';
import { ObservedNodes } from './observed-nodes';
import { labelOf } from './progress-frame';
import type { ProgressView } from './progress-view';

/** At most one progress line is written for this many per cent. */
const PERCENT_PER_LINE = 5;

/** For a log or a pipe: a line when the status changes, when the queue has halved, and every few per cent. */
export class LineProgressView implements ProgressView {
  readonly nodes = new ObservedNodes();
  private status: string | null = null;
  private position = Number.POSITIVE_INFINITY;
  private percent = -PERCENT_PER_LINE;
  private isCut = false;

  constructor(private readonly host: Host) {}

  onJob(job: Job): void {
    if (isTerminal(job.status)) return;
    const position = job.queue_position ?? Number.POSITIVE_INFINITY;
    const moved = position < this.position && position <= this.position / 2;
    if (job.status !== this.status || moved) {
      this.status = job.status;
      this.position = position;
      this.note(Number.isFinite(position) ? `${job.status}, position ${position}` : job.status);
    }
    if (job.progress) this.onProgress(job.progress);
  }

  onProgress(progress: Progress): void {
    this.nodes.see(progress, this.host.nowMs());
    const percent = Math.floor(progress.value * 100);
    if (percent - this.percent < PERCENT_PER_LINE) return;
    this.percent = percent;
    const { active } = this.nodes;
    const step = active?.steps ? `, step ${active.step ?? 0} of ${active.steps}` : '';
    const node = active ? `  ${labelOf(active)}${step}` : '';
    this.note(
      `${String(percent).padStart(3)}%  ${progress.nodes_done} of ${count(progress.nodes_total, 'node')}${node}`,
    );
  }

  onOutput(): void {
    // The summary shows outputs.
  }

  onConnection(connection: Connection): void {
    if (connection === 'unreachable') this.note('The service is unreachable; retrying.');
    if (connection === 'stream' && this.isCut) this.note('The service is reachable again.');
    this.isCut = connection === 'unreachable';
  }

  note(line: string): void {
    this.host.stderr.write(`${line}\n`);
  }

  close(): void {
    // Nothing was drawn that must be removed.
  }
}
