import { z } from 'zod';
import { boundedList } from './bounded-list';
import { JOB_STATUSES, JobListItemSchema, JobMetadataSchema, TERMINAL_STATUSES } from './job';

/** Jobs of one batch. */
export const BATCH_JOBS = 10_000;
/** Lists of one table: inputs that change from job to job. */
export const BATCH_COLUMNS = 1_000;

/** `all`: one job that cannot be accepted refuses the batch. `each`: those that can be are accepted. */
export const BATCH_ADMISSIONS = ['all', 'each'] as const;
export type BatchAdmission = (typeof BATCH_ADMISSIONS)[number];

const workflow = z.record(z.string(), z.unknown()).meta({ description: 'API-format graph, taken verbatim.' });
const admission = z
  .enum(BATCH_ADMISSIONS)
  .optional()
  .meta({ description: '`all`, the default: all jobs are accepted or none. `each`: those that can be are.' });

const ListedBatchSchema = z.object({
  jobs: z
    .array(z.object({ workflow, metadata: JobMetadataSchema.optional() }))
    .min(1)
    .max(BATCH_JOBS)
    .meta({ description: 'Each as it would be submitted alone, without `extra_data`.' }),
  admission,
});
const TabledBatchSchema = z.object({
  workflow,
  table: z.record(z.string(), z.array(z.unknown()).min(1)).meta({
    description:
      'Lists of values by `node id.input name`. The workflow gives each of these inputs a value, in whose place they come.',
    maxProperties: BATCH_COLUMNS,
  }),
  combine: z
    .enum(['zip', 'cross'])
    .optional()
    .meta({
      description:
        '`zip`, the default: the first values of all lists make a job, then the second ones; the lists have one length. `cross`: each ' +
        'value with each; the last list changes fastest.',
    }),
  metadata: JobMetadataSchema.optional().meta({ description: 'Of every job.' }),
  admission,
});
export const BatchSubmissionSchema = z.union([TabledBatchSchema, ListedBatchSchema]).meta({ id: 'BatchSubmission' });

const BatchFaultSchema = z.object({
  index: z.int().meta({ description: 'Place of the job in the batch, from 0.' }),
  code: z.string(),
  message: z.string(),
  details: z.record(z.string(), z.unknown()).nullable().meta({ description: 'Null as well in lists and in events.' }),
});
export type BatchFault = z.infer<typeof BatchFaultSchema>;

/** Ends after which a job of a batch can be tried again. */
export const RETRIED_STATUSES = ['failed', 'canceled', 'expired'] as const;
export type RetriedStatus = (typeof RETRIED_STATUSES)[number];

export const BatchRetrySchema = z
  .object({
    statuses: boundedList(z.enum(RETRIED_STATUSES), { min: 1, max: 8 })
      .default(['failed'])
      .meta({ description: 'Jobs that ended so are tried again; `failed` alone by default.' }),
    admission: z.enum(BATCH_ADMISSIONS).default('all').meta({
      description:
        '`all`, the default: all of them are accepted or none. `each`: those that can be are, as many as there is room for.',
    }),
  })
  .meta({ id: 'BatchRetry', description: 'Which jobs of a batch are tried again.' });

/** How many jobs are in each state. */
const CountsSchema = z
  .object(
    Object.fromEntries(JOB_STATUSES.map((status) => [status, z.int()])) as Record<
      (typeof JOB_STATUSES)[number],
      z.ZodInt
    >,
  )
  .meta({ description: 'Jobs by status; one that was deleted is counted no more.' });

const BATCH_STATUSES = ['active', 'completed'] as const;

export const BatchSchema = z
  .object({
    id: z.uuid(),
    status: z.enum(BATCH_STATUSES).meta({ description: '`completed` when every job has ended, however.' }),
    created_at: z.iso.datetime(),
    completed_at: z.iso.datetime().nullable().meta({ description: 'When the last job ended.' }),
    expires_at: z.iso.datetime().meta({
      description:
        'The batch and its jobs can be read until then; jobs that a rule of a label keeps for a shorter time go before.',
    }),
    item_count: z.int().meta({ description: 'Jobs that were asked for.' }),
    job_count: z.int().meta({ description: 'Jobs that were accepted.' }),
    counts: CountsSchema,
    progress: z
      .number()
      .min(0)
      .max(1)
      .meta({ description: 'The part of the jobs that has ended; 1 once the batch is completed.' }),
    charged_micros: z.int().optional().meta({
      description:
        'What the ended jobs cost that were not deleted, in micro-credits, those that were tried again among them; absent where jobs have no price.',
    }),
    retry_count: z.int().meta({ description: 'How often ended jobs of it were tried again.' }),
    refused_count: z.int().meta({ description: 'Jobs that were not accepted, with the admission `each`.' }),
    refused: z.array(BatchFaultSchema).meta({
      description:
        'Why: the first of them, 100 and 64 KiB at most. In lists and in events those of the first 4 KiB, without `details`.',
    }),
    refused_truncated: z.boolean().meta({
      description:
        'Whether `refused` leaves out any of the `refused_count` jobs: too long, or forgotten by an erasure.',
    }),
    urls: z.object({
      self: z.string(),
      jobs: z.string(),
      events: z.string(),
      results: z.string(),
      outputs: z.string(),
      cancel: z.string(),
      retry: z.string(),
    }),
  })
  .meta({ id: 'Batch', description: 'Many jobs under one id.' });
export type BatchView = z.infer<typeof BatchSchema>;

export const BatchPageSchema = z
  .object({ batches: z.array(BatchSchema), next_cursor: z.string().optional() })
  .meta({ id: 'BatchPage', description: 'A page of batches, the newest first.' });
export type BatchPage = z.infer<typeof BatchPageSchema>;

export const BatchJobSchema = JobListItemSchema.extend({
  batch_index: z.int().meta({ description: 'Place of the job in the batch, from 0.' }),
}).meta({ id: 'BatchJob', description: 'A job of a batch, as a list shows it.' });
export type BatchJobView = z.infer<typeof BatchJobSchema>;

export const BatchJobPageSchema = z
  .object({ jobs: z.array(BatchJobSchema), next_cursor: z.string().optional() })
  .meta({ id: 'BatchJobPage', description: 'A page of the jobs of a batch, in its order.' });
export type BatchJobPage = z.infer<typeof BatchJobPageSchema>;

/** Events of the stream of a batch, by name. */
export type BatchEventName = 'status' | 'progress' | 'job';

/** The data of each event. */
export const BatchEventSchemas = {
  status: BatchSchema,
  progress: BatchSchema.pick({ counts: true, progress: true, charged_micros: true, retry_count: true }).meta({
    id: 'BatchProgress',
    description: 'How far a batch is.',
  }),
  job: z
    .object({
      id: z.uuid(),
      batch_index: z.int().meta({ description: 'Place of the job in the batch, from 0.' }),
      status: z.enum(TERMINAL_STATUSES),
      completed_at: z.iso.datetime(),
    })
    .meta({ id: 'EndedBatchJob', description: 'A job of a batch that has ended.' }),
} as const satisfies Record<BatchEventName, z.ZodType>;
