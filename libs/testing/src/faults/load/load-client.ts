import { setTimeout as pause } from 'node:timers/promises';
import { RETRY_CODES, isTerminal, type Asset, type Job } from '@millrace/contracts';
import { joinSignals } from '@millrace/platform';
import type { History, SubmissionHistory } from './history';
import { LoadCalls, codeOf, type LoadTarget } from './load-calls';
import type { Random } from '../random';
import { StreamReading } from './stream-reading';
import { makeGraph, makePicture, makeRepeatedGraph } from './workload';

const STREAM_MS = 30_000;
const POLL_MS = 250;
/** Of a retry policy: all that may be tried again. */
const RETRIED = `on=(${RETRY_CODES.join(' ')})`;

/** One client under way: submits, watches, cancels, uploads, repeats itself. It records only what it was answered. */
export class LoadClient {
  private readonly assets: string[] = [];
  private readonly calls: LoadCalls;
  private count = 0;

  constructor(
    private readonly name: string,
    private readonly target: LoadTarget,
    private readonly history: History,
    private readonly random: Random,
    private readonly until: AbortSignal,
  ) {
    this.calls = new LoadCalls(target, history, random);
  }

  /** Go on until the signal aborts. */
  async run(): Promise<void> {
    while (!this.until.aborted) {
      if (this.random.chance(0.15)) await this.upload();
      const jobId = await this.submit();
      if (jobId === null) await pause(this.random.whole(50, 300));
      else await this.attend(jobId);
    }
  }

  /** Submit a job, and again while nobody knows what became of it. @returns its id where it is known. */
  private async submit(): Promise<string | null> {
    this.count += 1;
    const label = `${this.name}-${this.count}`;
    const key = this.random.chance(0.75) ? `key-${label}` : null;
    const submission = this.history.submission(label, this.target.accountId, key);
    const assetId = this.assets.length === 0 ? null : this.random.pick(this.assets);
    const reuses = this.random.chance(0.2);
    const graph = reuses ? makeRepeatedGraph(this.random) : makeGraph(this.random, assetId).graph;
    const secrets =
      !reuses && this.random.chance(0.1) ? { extra_data: { api_key_vendor_org: this.target.canary } } : {};
    const body = JSON.stringify({ workflow: graph, metadata: { label }, ...secrets });
    const retry = this.random.chance(0.3)
      ? `max=${this.random.whole(1, 3)}, ${RETRIED}, pause=${this.random.whole(0, 2)}`
      : null;
    const headers = {
      ...(retry === null ? {} : { 'Millrace-Retry': retry }),
      ...(reuses ? { 'Millrace-Reuse': 'exact' } : {}),
    };
    let jobId = await this.trySubmission(submission, body, headers);
    const tries = submission.tries;
    for (let again = 0; key !== null && again < 3; again += 1) {
      const unknown = tries.at(-1)?.outcome === 'unknown';
      if (!unknown && !this.random.chance(0.1)) break;
      jobId = (await this.trySubmission(submission, body, headers)) ?? jobId;
    }
    if (jobId !== null && 'extra_data' in secrets) this.history.canaries += 1;
    return jobId;
  }

  private async trySubmission(
    submission: SubmissionHistory,
    body: string,
    policies: Record<string, string>,
  ): Promise<string | null> {
    const headers = submission.key === null ? policies : { ...policies, 'Idempotency-Key': submission.key };
    const answer = await this.calls.call<Job>('POST', '/api/v2/jobs', { text: body, headers });
    if (answer?.status === 201) {
      submission.tries.push({ outcome: 'ok', code: null, jobId: answer.body.id });
      this.history.saw(answer.body.id, answer.body.status, null);
      return answer.body.id;
    }
    const refused = answer !== null && answer.status < 500;
    const code = refused ? codeOf(answer.body) : null;
    submission.tries.push({ outcome: refused ? 'refused' : 'unknown', code, jobId: null });
    return null;
  }

  private async attend(jobId: string): Promise<void> {
    const dice = this.random.next();
    if (dice < 0.15) return;
    if (dice < 0.35) {
      await pause(this.random.whole(0, 2_000));
      const answer = await this.calls.call<Job>('POST', `/api/v2/jobs/${jobId}/cancel`);
      if (answer?.status === 200) this.see(answer.body);
      if (this.random.chance(0.3)) await this.calls.call<Job>('POST', `/api/v2/jobs/${jobId}/cancel`);
    }
    if (dice < 0.7) await this.poll(jobId);
    else await this.stream(jobId);
  }

  private see(job: Job): void {
    this.history.saw(job.id, job.status, job.progress?.value ?? null);
  }

  private async poll(jobId: string): Promise<void> {
    const deadline = Date.now() + this.random.whole(1_000, 15_000);
    while (!this.until.aborted && Date.now() < deadline) {
      const answer = await this.calls.call<Job>('GET', `/api/v2/jobs/${jobId}`);
      if (answer !== null) this.history.found(jobId, answer.status);
      if (answer?.status === 200) {
        this.see(answer.body);
        if (isTerminal(answer.body.status)) return;
      }
      await pause(POLL_MS);
    }
  }

  /** Read a stream until the job has ended, coming back when it breaks off. */
  private async stream(jobId: string): Promise<void> {
    const deadline = Date.now() + this.random.whole(2_000, 20_000);
    while (!this.until.aborted && Date.now() < deadline) {
      const ended = await this.readStream(jobId).catch(() => false);
      if (!ended) {
        await pause(POLL_MS);
        continue;
      }
      const again = await this.calls.call<Job>('GET', `/api/v2/jobs/${jobId}`);
      if (again?.status === 200) this.see(again.body);
      return;
    }
  }

  /** @returns whether the stream sent the end of the job. */
  private readStream(jobId: string): Promise<boolean> {
    const over = joinSignals(this.until, AbortSignal.timeout(STREAM_MS));
    return this.readEvents(jobId, over.signal).finally(over.release);
  }

  private async readEvents(jobId: string, signal: AbortSignal): Promise<boolean> {
    const path = `/api/v2/jobs/${jobId}/events`;
    const response = await this.calls.send(path, {
      headers: { authorization: `Bearer ${this.target.apiKey}` },
      signal,
    });
    if (response.status !== 200 || response.body === null) {
      const status = await this.calls.refusal(path, response);
      if (status !== null) this.history.found(jobId, status);
      return false;
    }
    const read = new StreamReading(jobId, this.history);
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) read.take(chunk);
    return read.hasEnded;
  }

  private async upload(): Promise<void> {
    const form = new FormData();
    form.set('content_type', 'image/png');
    form.set('file_path', `${this.name}.png`);
    form.set('file', new Blob([await makePicture(this.random)]), `${this.name}.png`);
    const answer = await this.calls.call<Asset>('POST', '/api/v2/assets', { form });
    if (answer === null || answer.status >= 300) return;
    const { id, hash } = answer.body;
    this.assets.push(id);
    this.history.uploads.set(id, { accountId: this.target.accountId, hash: hash ?? '' });
  }
}
