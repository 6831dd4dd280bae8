import { z } from 'zod';
import { JobErrorSchema, JobMetadataSchema, JobStatusSchema, TimestampSchema } from '@millrace/contracts';
import { pageSchema } from '../endpoints';

const micros = z.int().meta({ description: 'Millionths of a credit.' });

const AttemptSchema = z.object({
  number: z.int().min(1),
  worker_id: z.uuid(),
  claimed_at: TimestampSchema,
  ended_at: TimestampSchema.nullable(),
  outcome: z.string().nullable().meta({ description: 'How it ended; null while it runs.' }),
  engine_ms: z.number().nullable().meta({ description: 'Its time on the engine, in milliseconds.' }),
});

const TransitionSchema = z.object({
  seq: z.int().min(1),
  from: JobStatusSchema.nullable().meta({ description: 'Null for the submission.' }),
  to: JobStatusSchema,
  attempt: z.int().min(0),
  cause: z.string(),
  worker_id: z.uuid().nullable(),
  at: TimestampSchema,
});

export const OperatedJobSchema = z
  .object({
    id: z.uuid(),
    account_id: z.uuid(),
    surface: z.string(),
    deployment_id: z.uuid().nullable(),
    pool: z.string(),
    status: JobStatusSchema,
    delivery: z.string().meta({
      description: '`waiting` in PostgreSQL, `dispatched` in a lane, `leased` to a worker, or `done`.',
    }),
    priority: z.int(),
    worker_id: z.uuid().nullable().meta({ description: 'The worker that has it.' }),
    max_attempts: z.int(),
    attempts: z.array(AttemptSchema).meta({ description: 'The first one first.' }),
    transitions: z.array(TransitionSchema).meta({ description: 'Every change of its status, the first one first.' }),
    error: JobErrorSchema.nullable(),
    metadata: JobMetadataSchema,
    models: z.array(z.string()).meta({ description: 'Model files that its loader nodes name.' }),
    engine_ms: z.number().meta({ description: 'Engine time of all attempts, in milliseconds.' }),
    held_micros: micros,
    charged_micros: micros.nullable().meta({ description: 'Null until it has ended.' }),
    created_at: TimestampSchema,
    started_at: TimestampSchema.nullable(),
    completed_at: TimestampSchema.nullable(),
    deadline_at: TimestampSchema,
    expires_at: TimestampSchema,
  })
  .meta({ id: 'OperatedJob', description: 'A job of any account, across its attempts.' });

const FailureSchema = z
  .object({
    id: z.uuid(),
    account_id: z.uuid(),
    pool: z.string(),
    attempts: z.int().min(0),
    error: JobErrorSchema.nullable(),
    created_at: TimestampSchema,
    completed_at: TimestampSchema.nullable(),
  })
  .meta({ id: 'Failure', description: 'A job that failed.' });

export const FailurePageSchema = pageSchema('failures', FailureSchema, 'FailurePage');
