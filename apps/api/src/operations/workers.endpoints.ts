import { z } from 'zod';
import { TimestampSchema } from '@millrace/contracts';
import { SEEN_WORKER_STATES, WORKER_SILENCE_SECONDS } from '@millrace/deployments';
import { defineEndpoint, recordId } from '../endpoints';

const common = { tag: 'workers' } as const;

const WorkerSchema = z
  .object({
    id: z.uuid(),
    pool: z.string(),
    engine: z.string(),
    version: z.string(),
    host: z.string(),
    pid: z.int(),
    state: z.enum(SEEN_WORKER_STATES).meta({
      description:
        `\`lost\`: no heartbeat for ${WORKER_SILENCE_SECONDS} s, or gone without a report. It gets no more jobs, and its jobs ` +
        'run elsewhere. It is back with its next heartbeat.',
    }),
    capacity: z.int().meta({ description: 'Attempts that it runs at once.' }),
    running_jobs: z.array(z.uuid()).meta({ description: 'Jobs that it has now.' }),
    resident_models: z.array(z.string()).meta({ description: 'Models that it has loaded.' }),
    problem: z.string().nullable().meta({ description: 'Why it is not ready.' }),
    started_at: TimestampSchema,
    last_seen_at: TimestampSchema.meta({
      description: 'Its last heartbeat; a live worker sends one every few seconds.',
    }),
    stopped_at: TimestampSchema.nullable(),
  })
  .meta({ id: 'Worker', description: 'A worker process.' });

const WorkerListSchema = z
  .object({ workers: z.array(WorkerSchema) })
  .meta({ id: 'WorkerList', description: 'Workers, newest first.' });

export const listWorkers = defineEndpoint({
  ...common,
  id: 'listWorkers',
  access: { by: 'operator', role: 'viewer' },
  method: 'get',
  path: '/admin/v1/workers',
  summary: 'List workers',
  description:
    'Live workers, and those whose heartbeats stopped within the last minute. With `stopped`, also those that have stopped ' +
    'or are considered lost, for about a day.',
  query: z.object({
    pool: z.string().max(200).optional().meta({ description: 'Only workers of this pool.' }),
    stopped: z
      .enum(['true', 'false'])
      .default('false')
      .meta({ description: '`true`: also those that have stopped or are considered lost.' }),
  }),
  answers: { 200: { description: 'The workers.', schema: WorkerListSchema } },
});

export const drainWorker = defineEndpoint({
  ...common,
  id: 'drainWorker',
  access: { by: 'operator', role: 'operator' },
  method: 'post',
  path: '/admin/v1/workers/{id}/drain',
  params: { id: recordId('worker') },
  summary: 'Drain a worker',
  description: 'It finishes its jobs and takes no more. Draining a draining worker changes nothing.',
  answers: { 200: { description: 'The worker.', schema: WorkerSchema } },
});

export const undrainWorker = defineEndpoint({
  ...common,
  id: 'undrainWorker',
  access: { by: 'operator', role: 'operator' },
  method: 'post',
  path: '/admin/v1/workers/{id}/undrain',
  params: { id: recordId('worker') },
  summary: 'Undo the drain of a worker',
  description:
    'It takes jobs again from its next heartbeat on. A worker that drains because it is about to stop goes on draining; one ' +
    'that does not drain stays as it is.',
  answers: { 200: { description: 'The worker.', schema: WorkerSchema } },
});
