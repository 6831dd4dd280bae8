import { EstimateSchema, isUuid, type Estimate, type JobStatus } from '@millrace/contracts';
import { memberText } from '../graph';
import { ServiceRefusal, UsageFailure } from '../process';
import type { ApiClient, CallOptions } from './api.client';
import {
  type Job,
  type JobAttempt,
  JobAttemptsView,
  type JobItem,
  JobItemView,
  JobView,
  readAs,
  recordOf,
  recordsOf,
  type WaitingReason,
  WaitingReasonView,
} from './wire';

/** The state of one node of a job. `ms` is null while unknown. */
export interface NodeTime {
  nodeId: string;
  classType: string | null;
  state: string;
  ms: number | null;
}

/** What a submission, and an estimate of it, says of the terms of its job. */
interface SubmissionTerms {
  /** The header `Millrace-Reuse`. */
  reuse?: string | undefined;
  /** The header `Millrace-Spend-Limit-Micros`. */
  spendLimitMicros?: number | undefined;
}

/** What a submission says beside its body. */
export interface SubmitOptions extends SubmissionTerms {
  /** The `Idempotency-Key`. */
  key: string;
  /** The header `Millrace-Retry`. */
  retry?: string | undefined;
}

export interface JobLogText {
  text: string;
  truncated: boolean;
  complete: boolean;
}

/** The most jobs of one page (wire supplement, section 1). */
const PAGE_LIMIT = 100;
/** A job is polled, so a read that hangs is given up early. */
const READ_WITHIN_MS = 20_000;
const NODES_WITHIN_MS = 5_000;

/** The operations on jobs. A job's own links are used unchanged; an id comes from the command line. */
export class JobsClient {
  constructor(private readonly api: ApiClient) {}

  /** `body` is the request's JSON text, sent unchanged. */
  async submit(body: string, { key, retry, reuse, spendLimitMicros }: SubmitOptions): Promise<Job> {
    const options = {
      ...(retry === undefined ? {} : { 'millrace-retry': retry }),
      ...termHeaders({ reuse, spendLimitMicros }),
    };
    const headers = { 'content-type': 'application/json', 'idempotency-key': key, ...options };
    const request = { method: 'POST', headers, body, isGuarded: true } as const;
    return readAs(JobView, await this.api.json(this.api.api('/jobs'), request), 'job');
  }

  /** What a submission of this body would come to. */
  async estimate(body: string, terms: SubmissionTerms = {}, signal?: AbortSignal): Promise<Estimate> {
    const headers = { 'content-type': 'application/json', ...termHeaders(terms) };
    const url = this.api.platformHere('/estimates');
    const options = { method: 'POST', headers, body, isRepeatable: true, signal } as const;
    return readAs(EstimateSchema, await this.api.json(url, options), 'estimate');
  }

  async get(id: string, signal?: AbortSignal): Promise<Job> {
    return readAs(JobView, await this.api.json(this.at(id), { signal }), 'job');
  }

  /** The job as it is now, by its own link. */
  async read(job: Job, options: Pick<CallOptions, 'signal' | 'tries'>): Promise<Job> {
    const url = this.api.link(job.urls.self);
    return readAs(JobView, await this.api.json(url, { ...options, headWithinMs: READ_WITHIN_MS }), 'job');
  }

  /** Cancel a job that is watched: what Ctrl-C does is up to its guard. */
  async cancel(job: Job): Promise<Job> {
    const options = { method: 'POST', tries: 3, isGuarded: true } as const;
    return readAs(JobView, await this.api.json(this.api.link(job.urls.cancel), options), 'job');
  }

  async cancelById(id: string): Promise<Job> {
    return readAs(JobView, await this.api.json(this.at(id, '/cancel'), { method: 'POST', tries: 3 }), 'job');
  }

  /** Newest first, at most `limit`, over as many pages as that takes. */
  async list(filter: { limit: number; status?: JobStatus; labels?: [string, string][] }): Promise<JobItem[]> {
    const jobs: JobItem[] = [];
    let cursor: string | undefined;
    do {
      const url = this.api.api('/jobs');
      url.searchParams.set('limit', String(Math.min(PAGE_LIMIT, filter.limit - jobs.length)));
      if (filter.status) url.searchParams.set('status', filter.status);
      for (const [key, value] of filter.labels ?? []) url.searchParams.append(`metadata[${key}]`, value);
      if (cursor) url.searchParams.set('cursor', cursor);
      const page = recordOf(await this.api.json(url));
      jobs.push(...readAs(JobItemView.array(), page.jobs, 'list of jobs'));
      cursor = typeof page.next_cursor === 'string' ? page.next_cursor : undefined;
    } while (cursor && jobs.length < filter.limit);
    return jobs.slice(0, filter.limit);
  }

  /** The time of each node, or null where the surface does not report it. They are not worth a long wait. */
  async nodes(id: string, signal?: AbortSignal): Promise<NodeTime[] | null> {
    const options = { signal, headWithinMs: NODES_WITHIN_MS };
    const answer = await this.api.json(this.at(id, '/nodes'), options).catch(nullWhenAbsent);
    if (answer === null) return null;
    return recordsOf(recordOf(answer).nodes).map((node) => ({
      nodeId: String(node.node_id),
      classType: typeof node.class_type === 'string' ? node.class_type : null,
      state: typeof node.state === 'string' ? node.state : 'unknown',
      ms: typeof node.ms === 'number' ? node.ms : null,
    }));
  }

  /** Every attempt, the first one first. */
  async attempts(id: string): Promise<JobAttempt[]> {
    return readAs(JobAttemptsView, await this.api.json(this.at(id, '/attempts')), 'list of attempts').attempts;
  }

  /** Why the job waits; null where it does not, or where the service does not say so. */
  async waitingReason(id: string): Promise<WaitingReason | null> {
    const answer = await this.api.json(this.api.platformHere(`/jobs/${id}`)).catch(nullWhenAbsent);
    return answer === null ? null : readAs(WaitingReasonView, recordOf(answer).waiting_reason, 'reason to wait');
  }

  /** What the job printed, or null when there is nothing to show. */
  async logs(id: string): Promise<JobLogText | null> {
    const answer = await this.api.json(this.at(id, '/logs'));
    if (answer === null) return null;
    const { text, truncated, complete } = recordOf(answer);
    return { text: typeof text === 'string' ? text : '', truncated: truncated === true, complete: complete !== false };
  }

  /** The graph exactly as submitted, as JSON text. */
  async workflow(id: string): Promise<string> {
    return memberText(await this.api.text(this.at(id, '/workflow')), 'workflow');
  }

  private at(id: string, rest = ''): URL {
    if (!isUuid(id))
      throw new UsageFailure(`${JSON.stringify(id)} is not a job id.`, 'List your jobs: millrace jobs ls');
    return this.api.api(`/jobs/${id}${rest}`);
  }
}

function termHeaders({ reuse, spendLimitMicros }: SubmissionTerms): Record<string, string> {
  return {
    ...(reuse === undefined ? {} : { 'millrace-reuse': reuse }),
    ...(spendLimitMicros === undefined ? {} : { 'millrace-spend-limit-micros': String(spendLimitMicros) }),
  };
}

function nullWhenAbsent(error: unknown): null {
  if (error instanceof ServiceRefusal && error.facts.status === 404) return null;
  throw error;
}
