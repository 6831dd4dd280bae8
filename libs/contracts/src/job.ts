import { z } from 'zod';
import { TimestampSchema } from './ids';
import { OutputSchema } from './output';

/** Every public state of a job (contract, section 3). */
export const JOB_STATUSES = ['queued', 'running', 'succeeded', 'canceling', 'canceled', 'failed', 'expired'] as const;
export type JobStatus = (typeof JOB_STATUSES)[number];

/** States in which a job has ended for good (contract, section 3). */
export const TERMINAL_STATUSES = ['succeeded', 'canceled', 'failed', 'expired'] as const satisfies readonly JobStatus[];
export type TerminalStatus = (typeof TERMINAL_STATUSES)[number];

/** True for a state in which a job has ended for good. */
export function isTerminal(status: JobStatus): status is TerminalStatus {
  return (TERMINAL_STATUSES as readonly JobStatus[]).includes(status);
}

export const JobStatusSchema = z.enum(JOB_STATUSES).meta({ id: 'JobStatus' });

/** Why a job's execution failed (wire supplement, section 6). Carried in `job.error`, never an HTTP error. */
export const JOB_ERROR_CODES = [
  'node_execution_error',
  'worker_lost',
  'engine_error',
  'input_unavailable',
  'output_storage_error',
  'execution_timeout',
  'credential_unavailable',
  'credits_exhausted',
] as const;
export type JobErrorCode = (typeof JOB_ERROR_CODES)[number];

export const JobErrorSchema = z
  .object({
    code: z.enum(JOB_ERROR_CODES),
    message: z.string(),
    node_id: z.string().nullable().optional(),
    class_type: z.string().nullable().optional(),
    traceback: z.string().nullable().optional(),
  })
  .meta({ id: 'JobError', description: 'Execution failure detail. Not an HTTP error.' });
export type JobError = z.infer<typeof JobErrorSchema>;

/** A complete snapshot of a job's progress: any single one brings a client up to date (contract, 2.2). */
export const ProgressSchema = z
  .object({
    value: z.number().min(0).max(1).meta({ description: 'Fraction of the whole.' }),
    nodes_done: z.int().min(0),
    nodes_total: z.int().min(0),
    current_node: z.string().nullable().optional().meta({ description: 'Node id.' }),
    current_node_class: z.string().nullable().optional().meta({ description: 'Class of that node.' }),
    step: z.int().nullable().optional(),
    steps: z.int().nullable().optional(),
    message: z.string().nullable().optional().meta({ description: 'A sentence for people.' }),
    staging: z
      .object({ staged_bytes: z.number().int().min(0), total_bytes: z.number().int().min(0) })
      .meta({ id: 'Staging', description: 'How much of the models of the workflow the worker has.' })
      .optional()
      .meta({
        description: 'Present while models are brought to the worker, before the run: that time is not charged.',
      }),
  })
  .meta({ id: 'Progress', description: 'Weighted by node count and sampler steps; `value` never decreases.' });
export type Progress = z.infer<typeof ProgressSchema>;

const UrlReference = z.string().meta({ format: 'uri-reference' });

const JobUrlsSchema = z
  .object({
    self: UrlReference,
    events: UrlReference,
    cancel: UrlReference,
    logs: UrlReference.optional(),
  })
  .meta({ id: 'JobUrls', description: 'Host-relative links; resolve them against the request origin.' });

export const JobLogsSchema = z
  .object({ text: z.string(), truncated: z.boolean(), captured_at: TimestampSchema })
  .meta({ id: 'JobLogs', description: 'Captured standard output. Untrusted: render as plain text.' });
export type JobLogs = z.infer<typeof JobLogsSchema>;

export const CapturedLogsSchema = JobLogsSchema.extend({
  complete: z
    .boolean()
    .meta({ description: 'False when the run went on after the log was read, or its worker was lost.' }),
}).meta({
  id: 'CapturedLogs',
  description: 'What a run printed. Untrusted: render as plain text.',
});
export type CapturedLogs = z.infer<typeof CapturedLogsSchema>;

/** Limits of the caller's labels, e.g. an end user's id (wire supplement, section 1). */
export const METADATA_LIMITS = { pairs: 16, valueLength: 256 } as const;
export const METADATA_KEY = /^[A-Za-z0-9_.-]{1,40}$/;

// Control characters, and the bidirectional controls of Unicode (UAX 9), which can disguise a label.
const UNSAFE = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;

/** Why a text cannot be the value of a label, as the rest of a sentence; null when it can. */
export function faultOfMetadataValue(value: string): string | null {
  const { valueLength } = METADATA_LIMITS;
  // A character outside the basic plane is two units of a string and still one character.
  if (value.length > valueLength && [...value].length > valueLength) {
    return `is longer than ${valueLength} characters`;
  }
  return UNSAFE.test(value) ? 'contains control or direction characters' : null;
}

export const JobMetadataSchema = z.record(z.string(), z.string()).meta({ id: 'JobMetadata' });
export type JobMetadata = z.infer<typeof JobMetadataSchema>;

export const JobMetricsSchema = z
  .object({ queue_ms: z.int().nullable(), execution_ms: z.int().nullable() })
  .catchall(z.int().nullable())
  .meta({ id: 'JobMetrics', description: 'Milliseconds; null until known, never omitted.' });
export type JobMetrics = z.infer<typeof JobMetricsSchema>;

export const JobSchema = z
  .object({
    id: z.uuid(),
    status: JobStatusSchema,
    created_at: TimestampSchema,
    started_at: TimestampSchema.nullable(),
    completed_at: TimestampSchema.nullable(),
    expires_at: TimestampSchema,
    queue_position: z.int().nullable().meta({ description: 'While queued: 1 for the next to start. An estimate.' }),
    progress: ProgressSchema.nullable(),
    outputs: z.array(OutputSchema).meta({ description: 'Grows while the job runs.' }),
    error: JobErrorSchema.nullable().meta({ description: 'Why the job failed or expired.' }),
    metadata: JobMetadataSchema,
    metrics: JobMetricsSchema,
    urls: JobUrlsSchema,
    reused_from: z
      .uuid()
      .nullable()
      .optional()
      .meta({
        description:
          'The job that ran and made these outputs; present only where this one was answered with them and did not run itself. It ' +
          'may be gone by now. Null for a sub-key that does not find that job.',
      }),
    deployment_version: z
      .int()
      .optional()
      .meta({ description: 'Only of jobs of deployments: the version of it that they run on, 1 for the first.' }),
    logs: JobLogsSchema.optional().meta({
      description: 'Only of jobs of deployments, and only in `GET /api/v2/jobs/{id}`.',
    }),
  })
  .meta({ id: 'Job', description: 'One execution of a workflow, retrievable until `expires_at`.' });
export type Job = z.infer<typeof JobSchema>;

export const JobListItemSchema = JobSchema.omit({ logs: true })
  .extend({
    create_time: TimestampSchema,
    update_time: TimestampSchema,
    deployment_id: z.string().nullable(),
  })
  .meta({ id: 'JobListItem' });
export type JobListItem = z.infer<typeof JobListItemSchema>;

export const JobPageSchema = z
  .object({ jobs: z.array(JobListItemSchema), next_cursor: z.string().optional() })
  .meta({ id: 'JobPage', description: 'Newest first. `next_cursor` is absent on the last page.' });
export type JobPage = z.infer<typeof JobPageSchema>;
