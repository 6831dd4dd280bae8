import { isTerminal, type JobStatus, type Progress } from '@millrace/contracts';
import type { ApiClient, Job, JobOutput, JobsClient } from '../client';
import { CliFailure, type Host, Interrupted, ServiceFailure, ServiceRefusal } from '../process';
import { readJobStream, type StreamItem } from './job-stream';

/** How the news of a job arrives at the moment. */
export type Connection = 'stream' | 'polling' | 'unreachable';

/** Told what is new. A job never goes back to an earlier status. */
export interface JobListener {
  onJob(job: Job): void;
  onProgress(progress: Progress): void;
  onOutput(output: JobOutput): void;
  onConnection(connection: Connection): void;
}

/** A stream without news for this long is checked by a poll; one without a byte for `IDLE_MS` is given up. */
const QUIET_MS = 15_000;
const IDLE_MS = 45_000;
const PAUSE_MS = 500;
const PAUSE_CAP_MS = 10_000;
const POLL_CAP_MS = 5_000;
const WAIT_CAP_MS = 60_000;
/** Without any answer for this long the follower stops; the job itself goes on. */
const GIVE_UP_MS = 300_000;

const ORDER: readonly JobStatus[] = ['queued', 'running', 'canceling'];

/**
 * Follows one job to its end: by its event stream, and by polls whenever the stream is silent, cut or refused. The stream
 * is never the source of truth (contract, section 1).
 */
export class JobFollower {
  private current: Job;
  private answeredAtMs: number;
  private newsAtMs: number;
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
    this.answeredAtMs = host.nowMs();
    this.newsAtMs = this.answeredAtMs;
  }

  /**
   * @returns the job in its terminal state, read afresh.
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
      const cap = this.hasStream ? PAUSE_CAP_MS : POLL_CAP_MS;
      await this.host.wait(Math.max(retryAfterMs, Math.min(cap, PAUSE_MS * 1.5 ** pauses)), this.signal);
      pauses += 1;
    }
  }

  /** The whole truth at the end: a `status` event carries no logs, and a link may be newer. */
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
      for (let silentMs = 0, next = ask(items); !isTerminal(this.current.status);) {
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
        // Heartbeats say that the stream is there, not that it tells everything.
        if (this.host.nowMs() - this.newsAtMs >= QUIET_MS) await this.poll();
        next = ask(items);
      }
    } catch (error) {
      this.judgeStream(error);
    } finally {
      leave.abort();
      // Ends the request that is still open; its own rejection is of no interest any more.
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
    if (!(error instanceof ServiceRefusal)) {
      // A cut stream shows as whatever the HTTP client throws; a poll decides what it means.
      if (this.connection !== 'unreachable') this.say('polling');
      return;
    }
    const { status, retryAfterSeconds } = error.facts;
    if (status === 401 || status === 403) throw error;
    if (status === 429) this.streamNotBeforeMs = this.host.nowMs() + (retryAfterSeconds ?? 1) * 1000;
    else this.hasStream = false;
    this.say('polling');
  }

  /** One read of the job. @returns milliseconds that the service asks to wait, within reason. */
  private async poll(): Promise<number> {
    try {
      this.see(await this.clients.jobs.read(this.current, { signal: this.signal, tries: 1 }));
      if (this.connection === 'unreachable') this.say('polling');
      return 0;
    } catch (error) {
      if (this.signal.aborted || !(error instanceof CliFailure)) throw error;
      if (error instanceof ServiceRefusal && error.facts.status !== 429) throw error;
      if (error instanceof ServiceFailure) this.missed(error);
      return Math.min(WAIT_CAP_MS, (error.facts.retryAfterSeconds ?? 0) * 1000);
    }
  }

  private missed(error: ServiceFailure): void {
    this.say('unreachable');
    if (this.host.nowMs() - this.answeredAtMs < GIVE_UP_MS) return;
    throw new ServiceFailure(`The service has not answered for five minutes. ${error.message}`, {
      ...error.facts,
      cure: `The job itself goes on. Watch it again: millrace watch ${this.current.id}`,
    });
  }

  private take(item: StreamItem): void {
    this.answeredAtMs = this.host.nowMs();
    if (item.kind !== 'alive') this.newsAtMs = this.answeredAtMs;
    this.say('stream');
    if (item.kind === 'job') this.see(item.job);
    if (item.kind === 'progress') this.listener.onProgress(item.progress);
    if (item.kind === 'output') this.listener.onOutput(item.output);
  }

  /** A poll and an event may cross: what is older than what was seen is dropped. */
  private see(job: Job): void {
    this.answeredAtMs = this.host.nowMs();
    this.newsAtMs = this.answeredAtMs;
    if (rank(job.status) < rank(this.current.status)) return;
    this.current = job;
    this.listener.onJob(job);
  }

  private say(connection: Connection): void {
    if (this.connection === connection) return;
    this.connection = connection;
    this.listener.onConnection(connection);
  }
}

/** The next item. It may be left unread when the stream is left, and then its rejection is of no interest. */
function ask(items: AsyncGenerator<StreamItem>): Promise<IteratorResult<StreamItem>> {
  const next = items.next();
  next.catch(() => undefined);
  return next;
}

function rank(status: JobStatus): number {
  return isTerminal(status) ? ORDER.length : ORDER.indexOf(status);
}
