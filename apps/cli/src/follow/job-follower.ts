import { isTerminal, type JobStatus, type Progress } from '@millrace/contracts';
import { type ApiClient, type Job, type JobOutput, type JobsClient, Outage } from '../client';
import { type Host, Interrupted, ServiceFailure, ServiceRefusal } from '../process';
import { readJobStream, type StreamItem } from './job-stream';

/** Where the state of a job comes from at the moment. */
export type Connection = 'stream' | 'polling' | 'unreachable';

/** Receives what is new. A job never goes back to an earlier status. */
export interface JobListener {
  onJob(job: Job): void;
  onProgress(progress: Progress): void;
  onOutput(output: JobOutput): void;
  onConnection(connection: Connection): void;
}

/** A stream without events for this long is checked by a poll; one without a byte for `IDLE_MS` is given up. */
const QUIET_MS = 15_000;
const IDLE_MS = 45_000;
const PAUSE_MS = 500;
const MAX_STREAM_PAUSE_MS = 10_000;
const MAX_POLL_PAUSE_MS = 5_000;

const ORDER: readonly JobStatus[] = ['queued', 'running', 'canceling'];

/**
 * Follows one job to its end: by its event stream, and by polls while the stream is silent, cut or refused. The stream is
 * never the source of truth (contract, section 1).
 */
export class JobFollower {
  private current: Job;
  private readonly outage: Outage;
  private eventAtMs: number;
  private connection: Connection | null = null;
  /** False once the service has refused the stream for good. */
  private hasStream = true;
  private streamNotBeforeMs = 0;

  constructor(
    private readonly clients: { api: ApiClient; jobs: JobsClient },
    private readonly host: Host,
    job: Job,
    private readonly listener: JobListener,
    private readonly signal: AbortSignal,
  ) {
    this.current = job;
    this.outage = new Outage(host, `The job itself continues. Watch it again: millrace watch ${job.id}`);
    this.eventAtMs = host.nowMs();
  }

  /**
   * @returns the job in its terminal state, read once more.
   * @throws {ServiceRefusal} when the job may not be read or is gone
   * @throws {ServiceFailure} when the service has not answered for five minutes
   * @throws {Interrupted} when `signal` aborts
   */
  async follow(): Promise<Job> {
    try {
      this.listener.onJob(this.current);
      await this.untilTerminal();
      return await this.final();
    } catch (error) {
      throw this.signal.aborted ? new Interrupted('Interrupted.') : error;
    }
  }

  private async untilTerminal(): Promise<void> {
    for (let pauses = 0; !isTerminal(this.current.status);) {
      const openedAtMs = this.host.nowMs();
      if (this.hasStream && openedAtMs >= this.streamNotBeforeMs) await this.readStream();
      if (this.host.nowMs() - openedAtMs >= QUIET_MS) pauses = 0;
      if (isTerminal(this.current.status)) break;
      const retryAfterMs = await this.poll();
      if (isTerminal(this.current.status)) break;
      const maxPauseMs = this.hasStream ? MAX_STREAM_PAUSE_MS : MAX_POLL_PAUSE_MS;
      await this.host.wait(Math.max(retryAfterMs, Math.min(maxPauseMs, PAUSE_MS * 1.5 ** pauses)), this.signal);
      pauses += 1;
    }
  }

  /** The job at its end, read once more: a `status` event carries no logs, and a link may be newer. */
  private async final(): Promise<Job> {
    try {
      const job = await this.clients.jobs.read(this.current, { signal: this.signal });
      return isTerminal(job.status) ? job : this.current;
    } catch (error) {
      if (error instanceof Interrupted) throw error;
      return this.current;
    }
  }

  /** Reads until the stream ends or falls silent. */
  private async readStream(): Promise<void> {
    const leave = new AbortController();
    const signal = AbortSignal.any([this.signal, leave.signal]);
    const items = readJobStream(this.clients.api, this.current.urls.events, signal);
    try {
      for (let silentMs = 0, next = nextOf(items); !isTerminal(this.current.status);) {
        const result = await this.nextOrQuiet(next);
        if (result === 'quiet') {
          silentMs += QUIET_MS;
          if (silentMs >= IDLE_MS) return;
          await this.poll();
          continue;
        }
        if (result.done) return;
        silentMs = 0;
        this.take(result.value);
        // Heartbeats show that the stream is open, not that every event arrives.
        if (this.host.nowMs() - this.eventAtMs >= QUIET_MS) await this.poll();
        next = nextOf(items);
      }
    } catch (error) {
      this.judgeStream(error);
    } finally {
      leave.abort();
      // Ends the request that is still open; its own rejection has no reader.
      void items.return(undefined).catch(() => undefined);
    }
  }

  private async nextOrQuiet(next: Promise<IteratorResult<StreamItem>>): Promise<IteratorResult<StreamItem> | 'quiet'> {
    const done = new AbortController();
    const quiet = this.host.wait(QUIET_MS, AbortSignal.any([this.signal, done.signal])).then(() => 'quiet' as const);
    quiet.catch(() => undefined);
    try {
      return await Promise.race([next, quiet]);
    } finally {
      done.abort();
    }
  }

  private judgeStream(error: unknown): void {
    if (this.signal.aborted) throw error;
    // A poll decides what it means: a cut stream shows as any error of the HTTP client, and a refusal may be of the stream alone.
    if (!(error instanceof ServiceRefusal)) {
      if (this.connection !== 'unreachable') this.connectedBy('polling');
      return;
    }
    const { status, retryAfterSeconds } = error.facts;
    if (status === 429) this.streamNotBeforeMs = this.host.nowMs() + (retryAfterSeconds ?? 1) * 1000;
    else this.hasStream = false;
    this.connectedBy('polling');
  }

  /** One read of the job. @returns milliseconds that the service asks to wait, as `Outage.missed`. */
  private async poll(): Promise<number> {
    try {
      this.see(await this.clients.jobs.read(this.current, { signal: this.signal, tries: 1 }));
      if (this.connection === 'unreachable') this.connectedBy('polling');
      return 0;
    } catch (error) {
      if (this.signal.aborted) throw error;
      if (error instanceof ServiceFailure) this.connectedBy('unreachable');
      return this.outage.missed(error);
    }
  }

  private take(item: StreamItem): void {
    this.outage.ended();
    if (item.kind !== 'alive') this.eventAtMs = this.host.nowMs();
    this.connectedBy('stream');
    if (item.kind === 'job') this.see(item.job);
    if (item.kind === 'progress') this.listener.onProgress(item.progress);
    if (item.kind === 'output') this.listener.onOutput(item.output);
  }

  /** A poll and an event may cross: an older status is dropped. */
  private see(job: Job): void {
    this.outage.ended();
    this.eventAtMs = this.host.nowMs();
    if (rank(job.status) < rank(this.current.status)) return;
    this.current = job;
    this.listener.onJob(job);
  }

  private connectedBy(connection: Connection): void {
    if (this.connection === connection) return;
    this.connection = connection;
    this.listener.onConnection(connection);
  }
}

/** The next item. When the stream is left it stays unread, and a rejection of it must not count as unhandled. */
function nextOf(items: AsyncGenerator<StreamItem>): Promise<IteratorResult<StreamItem>> {
  const next = items.next();
  next.catch(() => undefined);
  return next;
}

function rank(status: JobStatus): number {
  return isTerminal(status) ? ORDER.length : ORDER.indexOf(status);
}
