import { hash } from 'node:crypto';
import {
  isTerminal,
  type CapturedLogs,
  type Job,
  type JobAttempts,
  type JobListItem,
  type JobLogs,
  type JobMetrics,
  type Output,
} from '@millrace/contracts';
import { versionOfPool } from '@millrace/deployments';
import type { ContentLinks, LinkBase } from '@millrace/assets';
import { VERSION } from '@millrace/platform';
import type { QueuePlace } from '../rotation';
import type { JobLogRecord, JobOutputRecord, JobRecord } from '../state';
import type { JobAttempt, JobRetries } from './job-attempts';
import type { JobVersion } from './job-version';

/** Of base64url: 128 bits. */
const ETAG_CHARACTERS = 22;

/** What decides how a job is shown: where, and whether that is a public demo. */
interface Viewer {
  surface: LinkBase;
  demo: boolean;
}

/** What a job looks like on the wire (contract, section 2). */
export class JobPresenter {
  constructor(private readonly links: ContentLinks) {}

  /** @param withLogs only `GET /jobs/{id}` carries logs (contract, 2.6). */
  present(viewer: Viewer, job: JobRecord, place: QueuePlace | null, withLogs = false): Job {
    const { surface } = viewer;
    const self = `${surface.prefix}/api/v2/jobs/${job.id}`;
    return {
      id: job.id,
      status: job.status,
      created_at: job.createdAt.toISOString(),
      started_at: job.startedAt?.toISOString() ?? null,
      completed_at: job.completedAt?.toISOString() ?? null,
      expires_at: job.expiresAt.toISOString(),
      queue_position: job.status === 'queued' ? (place?.position ?? null) : null,
      progress: job.progress,
      outputs: job.outputs.map((output) => this.output(surface, job, output)),
      error: job.error,
      metadata: job.metadata,
      metrics: metricsOf(job, job.status === 'queued' ? place : null),
      urls: {
        self,
        events: `${self}/events`,
        cancel: `${self}/cancel`,
        ...(showsLogs(viewer) ? { logs: `${self}/logs` } : {}),
      },
      ...(job.deploymentId !== null && { deployment_version: versionOfPool(job.poolId) }),
      ...(job.isReused ? { reused_from: job.reusedFrom } : {}),
      ...(withLogs && job.logs !== null && showsLogs(viewer) ? { logs: jobLogsOf(job.logs) } : {}),
    };
  }

  /**
   * Names what `present` makes of a version of a job. Weak, because the links of outputs differ from answer to answer. A client
   * that has an answer of this name has links that work: names last for one generation of links. Another build of the service
   * may show a job otherwise.
   */
  etag({ surface }: Viewer, version: JobVersion): string {
    const shown = [VERSION, this.links.generation(), surface.origin, surface.prefix, version];
    return `W/"${hash('sha256', JSON.stringify(shown), 'base64url').slice(0, ETAG_CHARACTERS)}"`;
  }

  /** An item of a list: the job, and what lists are sorted and shown by. */
  item(viewer: Viewer, job: JobRecord, place: QueuePlace | null): JobListItem {
    return {
      ...this.present(viewer, job, place),
      create_time: job.createdAt.toISOString(),
      update_time: job.updatedAt.toISOString(),
      deployment_id: job.deploymentId,
    };
  }

  output(surface: LinkBase, job: JobRecord, output: JobOutputRecord): Output {
    const link = this.links.toContent(surface, { id: output.assetId, accountId: job.accountId });
    return {
      node_id: output.nodeId,
      name: output.name,
      type: output.type,
      content_type: output.contentType,
      size_bytes: output.sizeBytes,
      id: output.assetId,
      hash: output.hash,
      url: link.url,
      url_expires_at: link.expiresAt.toISOString(),
      job_id: job.id,
    };
  }
}

/** Deployments capture logs; a public demo withholds what it captured (contract, 2.6). */
export function showsLogs({ surface, demo }: Viewer): boolean {
  return surface.kind === 'deployment' && !demo;
}

/** The attempts of a job, and how far its retry policy is used. */
export function presentAttempts({
  attempts,
  retry,
}: {
  attempts: JobAttempt[];
  retry: JobRetries | null;
}): JobAttempts {
  if (retry === null) return { attempts: attempts.map(presentAttempt), retry };
  const { nextAt, ...policy } = retry;
  return { attempts: attempts.map(presentAttempt), retry: { ...policy, next_at: nextAt?.toISOString() ?? null } };
}

/** An attempt, without the worker that ran it. */
function presentAttempt(attempt: JobAttempt): JobAttempts['attempts'][number] {
  const { number, startedAt, endedAt, outcome, message, error, engineMs, charge } = attempt;
  return {
    number,
    started_at: startedAt.toISOString(),
    ended_at: endedAt?.toISOString() ?? null,
    outcome,
    message,
    error,
    engine_ms: engineMs,
    charge,
  };
}

/** Captured logs as an answer of their own. */
export function presentLogs(logs: JobLogRecord): CapturedLogs {
  return { ...jobLogsOf(logs), complete: logs.complete };
}

function jobLogsOf({ text, truncated, capturedAt }: JobLogRecord): JobLogs {
  return { text, truncated, captured_at: capturedAt.toISOString() };
}

/**
 * Three are additive: `estimated_wait_ms`, the time until a queued job starts; `cached_nodes`, how many nodes the engine did not
 * compute again; and `charged_micros`, what the job cost in micro-credits, where there is money at all.
 */
function metricsOf(job: JobRecord, place: QueuePlace | null): JobMetrics {
  const end = job.completedAt?.getTime();
  const start = job.startedAt?.getTime();
  const ranAndEnded = isTerminal(job.status) && start !== undefined && end !== undefined;
  return {
    queue_ms: start === undefined ? null : start - job.createdAt.getTime(),
    execution_ms: ranAndEnded ? end - start : null,
    estimated_wait_ms: place?.waitMs ?? null,
    cached_nodes: job.cachedNodes,
    ...(job.surface === 'self_hosted' ? {} : { charged_micros: job.chargedMicros }),
  };
}
