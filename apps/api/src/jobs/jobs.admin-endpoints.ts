import { z } from 'zod';
import { JobStatusSchema } from '@millrace/contracts';
import { defineEndpoint, pageQuery, recordId } from '../endpoints';
import { FailurePageSchema, OperatedJobSchema } from './job-history.schemas';

const common = {
  method: 'post',
  params: { id: recordId('job') },
  tag: 'jobs',
} as const;

const CanceledJobSchema = z
  .object({ id: z.uuid(), account_id: z.uuid(), status: JobStatusSchema })
  .meta({ id: 'CanceledJob', description: 'A job and its status now.' });

const RedrivenJobSchema = z
  .object({
    id: z.uuid().meta({ description: 'The new job.' }),
    redriven_from: z.uuid(),
    account_id: z.uuid(),
    status: JobStatusSchema,
  })
  .meta({ id: 'RedrivenJob', description: 'A new job that runs the graph of one that has ended.' });

export const readJob = defineEndpoint({
  ...common,
  method: 'get',
  id: 'readJob',
  readsCustomer: true,
  access: { by: 'operator', role: 'viewer', reason: true },
  path: '/admin/v1/jobs/{id}',
  summary: 'Read a job across its attempts',
  description: 'Where a job of any account is, who had it, how each attempt ended, and every change of its status.',
  answers: { 200: { description: 'The job.', schema: OperatedJobSchema } },
});

export const listFailures = defineEndpoint({
  id: 'listFailures',
  readsCustomer: true,
  access: { by: 'operator', role: 'viewer' },
  method: 'get',
  path: '/admin/v1/failures',
  tag: 'jobs',
  query: z.object(pageQuery),
  summary: 'List failed jobs',
  description: 'Jobs of all accounts that failed, the latest submitted first, for as long as they are kept.',
  answers: { 200: { description: 'A page of failed jobs.', schema: FailurePageSchema } },
  errors: ['invalid_cursor'],
});

export const cancelJob = defineEndpoint({
  ...common,
  id: 'cancelJob',
  access: { by: 'operator', role: 'operator', reason: true },
  path: '/admin/v1/jobs/{id}/cancel',
  summary: 'Cancel a job',
  description: 'As its owner would. Canceling a canceled job changes nothing.',
  answers: { 200: { description: 'The job.', schema: CanceledJobSchema } },
});

export const redriveJob = defineEndpoint({
  ...common,
  id: 'redriveJob',
  access: { by: 'operator', role: 'operator', reason: true },
  path: '/admin/v1/jobs/{id}/redrive',
  creates: '/admin/v1/jobs/{id}',
  summary: 'Run an ended job again',
  description:
    'An ended job stays ended: this creates a new job of the same account and surface from the stored graph and labels, at ' +
    "today's price and within today's limits. A job that came with credentials for its run is refused, because they are " +
    'not stored. With an `Idempotency-Key` it is run again once: a repeat within 24 hours is answered with the same new job.',
  idempotencyKey: 'accepts-repeats',
  answers: { 201: { description: 'The new job.', schema: RedrivenJobSchema } },
  errors: [
    'invalid_field',
    'idempotency_key_reuse',
    'invalid_workflow',
    'missing_asset',
    'insufficient_credits',
    'queue_full',
    'label_limit',
    'label_spend_limit',
    'spend_cap',
    'deployment_stopped',
    'deployment_not_ready',
  ],
});
