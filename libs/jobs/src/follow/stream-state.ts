import { isTerminal, type Preview, type Progress } from '@millrace/contracts';
import type { ReceivedEvent } from '@millrace/messaging';
import type { QueuePlace } from '../rotation';
import type { JobOutputRecord, JobRecord, JobTransitionRecord } from '../state';
import { withProgress } from './live-progress';

/** What a stream sends of a job. */
export type StreamItem =
  | { kind: 'status'; job: JobRecord; place: QueuePlace | null }
  | { kind: 'progress'; progress: Progress }
  | { kind: 'preview'; preview: Preview }
  | { kind: 'output'; job: JobRecord; output: JobOutputRecord };

/**
 * What one stream has sent and has still to send. Pure: it neither reads nor waits. Of progress and previews it keeps the
 * latest, of everything else only that there is something to read: a slow reader costs no more than a fast one.
 */
export class StreamState {
  /** Number of the last transition sent. */
  seq = 0;
  private readonly sentAssets = new Set<string>();
  private position: number | null = null;
  /** The furthest that is known, sent or not. */
  private progress: Progress | null = null;
  private isProgressNew = false;
  private preview: Preview | null = null;
  /** True while there is more to read of the job than was sent. */
  stale = false;

  /** Begin at a first snapshot, which has been sent. */
  constructor(job: JobRecord, place: QueuePlace | null) {
    this.seq = job.seq;
    this.position = place?.position ?? null;
  }

  receive(event: ReceivedEvent): void {
    if (event.kind === 'progress') this.offerProgress(event.progress);
    else if (event.kind === 'preview') this.preview = event.preview;
    else if (event.kind !== 'status' || event.seq > this.seq) this.stale = true;
  }

  offerProgress(progress: Progress | null): void {
    if (progress === null || progress.value < (this.progress?.value ?? 0)) return;
    this.progress = progress;
    this.isProgressNew = true;
  }

  offerPreview(preview: Preview | null): void {
    this.preview ??= preview;
  }

  get hasProgress(): boolean {
    return this.isProgressNew;
  }

  get hasPreview(): boolean {
    return this.preview !== null;
  }

  takeProgress(): StreamItem[] {
    const { progress, isProgressNew } = this;
    this.isProgressNew = false;
    return progress === null || !isProgressNew ? [] : [{ kind: 'progress', progress }];
  }

  takePreview(): StreamItem[] {
    const { preview } = this;
    this.preview = null;
    return preview === null ? [] : [{ kind: 'preview', preview }];
  }

  /** A queued job's place, when it has changed since it was sent. */
  takePlace(job: JobRecord, place: QueuePlace | null): StreamItem[] {
    const position = place?.position ?? null;
    if (job.status !== 'queued' || position === this.position) return [];
    this.position = position;
    return [{ kind: 'status', job, place }];
  }

  /**
   * Outputs that this stream has not sent. A stream that opens late sends those before it too: clients read outputs from
   * these events alone, and one that was cut off would otherwise miss what landed meanwhile.
   */
  takeOutputs(job: JobRecord): StreamItem[] {
    const outputs = job.outputs.filter((output) => !this.sentAssets.has(output.assetId));
    for (const output of outputs) this.sentAssets.add(output.assetId);
    return outputs.map((output) => ({ kind: 'output', job, output }));
  }

  /**
   * What a reading has that was not sent: every transition since the last one, the outputs since then, and the end last of
   * all, after the final progress and every output.
   */
  takeNews(job: JobRecord, transitions: JobTransitionRecord[]): StreamItem[] {
    const moves = transitions.filter((transition) => transition.seq > this.seq);
    // What a status shows is known from then on: no progress below it follows.
    if (moves.length > 0 && (job.progress?.value ?? 0) > (this.progress?.value ?? 0)) this.offerProgress(job.progress);
    const statuses = moves.map((move): StreamItem => ({
      kind: 'status',
      job: withProgress(asOf(job, move), this.progress),
      place: null,
    }));
    this.seq = moves.at(-1)?.seq ?? this.seq;
    const end = isTerminal(job.status) && moves.length > 0 ? statuses.splice(-1) : [];
    const outputs = this.takeOutputs(job);
    if (end.length > 0) this.offerProgress(job.progress);
    return [...statuses, ...(end.length > 0 ? this.takeProgress() : []), ...outputs, ...end];
  }
}

/** The job as it was right after a transition, without what came later. */
function asOf(job: JobRecord, { status, at, seq }: JobTransitionRecord): JobRecord {
  if (seq === job.seq) return job;
  return {
    ...job,
    status,
    seq,
    updatedAt: at,
    startedAt: status === 'queued' ? null : job.startedAt,
    completedAt: isTerminal(status) ? job.completedAt : null,
    error: isTerminal(status) ? job.error : null,
    cachedNodes: isTerminal(status) ? job.cachedNodes : null,
    chargedMicros: isTerminal(status) ? job.chargedMicros : null,
  };
}
