import type { Preview, Progress } from '@millrace/contracts';
import type { EngineEvent, EngineOutput } from '@millrace/engines';
import type { ClaimedAttempt, JobEvents, NodeTiming } from '@millrace/jobs';
import { ProgressTracker, type ProgressPlan } from '@millrace/workflow';
import { LogTail } from './log-tail';
import { NodeClock } from './node-clock';
import { previewOf } from './preview';
import { Throttle } from './throttle';

const PROGRESS_EVERY_MS = 250;
const PREVIEW_EVERY_MS = 500;

type PreviewEvent = Extract<EngineEvent, { type: 'preview' }>;

/**
 * Receives the events of a run and keeps what is known of it: progress, times, log. Passes outputs on, and publishes progress
 * and previews. An error on the way is reported once to `fault`, which ends the attempt.
 */
export class RunObserver {
  private readonly tracker: ProgressTracker;
  private readonly clock: NodeClock;
  private readonly log: LogTail;
  private readonly progressThrottle: Throttle<Progress>;
  private readonly previewThrottle: Throttle<PreviewEvent>;
  private startedAtMs: number | null = null;
  private settledAtMs: number | null = null;

  constructor(
    claimed: ClaimedAttempt,
    plan: ProgressPlan,
    events: Pick<JobEvents, 'progressed' | 'previewed'>,
    logTailBytes: number,
    private readonly on: {
      output: (output: EngineOutput) => void;
      computed: () => void;
      fault: (error: unknown) => void;
    },
  ) {
    this.tracker = new ProgressTracker(plan, claimed.progress?.value ?? 0);
    this.clock = new NodeClock(plan);
    this.log = new LogTail(logTailBytes);
    this.progressThrottle = new Throttle(PROGRESS_EVERY_MS, (progress) =>
      this.guarded(() => events.progressed(claimed.jobId, claimed.attempt, progress)),
    );
    this.previewThrottle = new Throttle(PREVIEW_EVERY_MS, (event) => {
      const publish = (preview: Preview | null): void => {
        if (preview !== null) events.previewed(claimed.jobId, claimed.attempt, preview);
      };
      void previewOf(event).then(publish).catch(on.fault);
    });
  }

  /** Called by the engine, in order. Never throws: an engine that is thrown at may never settle. */
  readonly onEvent = (event: EngineEvent): void => this.guarded(() => this.take(event));

  private guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.on.fault(error);
    }
  }

  private take(event: EngineEvent): void {
    switch (event.type) {
      case 'started':
        this.startedAtMs ??= performance.now();
        return;
      case 'nodes_cached':
        this.tracker.nodesCached(event.nodeIds);
        this.clock.cached(event.nodeIds);
        break;
      case 'node_started':
        this.tracker.nodeStarted(event.nodeId);
        this.clock.started(event.nodeId);
        break;
      case 'node_step':
        this.tracker.nodeStep(event.nodeId, event.step, event.steps);
        break;
      case 'node_finished':
        this.tracker.nodeFinished(event.nodeId);
        this.clock.finished(event.nodeId);
        break;
      case 'preview':
        this.previewThrottle.offer(event);
        return;
      case 'computed':
        this.on.computed();
        return;
      case 'output':
        this.on.output(event.output);
        return;
      case 'log':
        this.log.append(event.text);
        return;
    }
    this.progressThrottle.offer(this.tracker.snapshot());
  }

  /** So much of the models of the run is on this machine; undefined once they all are. It is no engine time. */
  staging(models: { stagedBytes: number; totalBytes: number } | undefined): void {
    this.tracker.staging(models && { staged_bytes: models.stagedBytes, total_bytes: models.totalBytes });
    this.progressThrottle.offer(this.tracker.snapshot());
  }

  /** The engine has settled: no more engine time is counted. */
  engineSettled(): void {
    this.settledAtMs ??= performance.now();
  }

  /** The run succeeded: all of it is done. */
  succeeded(): void {
    this.tracker.finished();
    this.progressThrottle.offer(this.tracker.snapshot());
  }

  failedAt(nodeId: string | null): void {
    this.clock.failed(nodeId);
  }

  get progress(): Progress {
    return this.tracker.snapshot();
  }

  get timings(): NodeTiming[] {
    return this.clock.read();
  }

  /** Engine time so far, in whole milliseconds. */
  get engineMs(): number {
    if (this.startedAtMs === null) return 0;
    return Math.round((this.settledAtMs ?? performance.now()) - this.startedAtMs);
  }

  /** How much the run has printed so far, in UTF-16 code units. */
  get logLength(): number {
    return this.log.length;
  }

  readLog(): { text: string; truncated: boolean } {
    return this.log.read();
  }

  /** Publish nothing more. What was held back is recorded with the end of the attempt, and streams show it with that. */
  close(): void {
    this.progressThrottle.close();
    this.previewThrottle.close();
  }
}
