import { z } from 'zod';
import {
  BatchEventSchemas,
  BatchJobPageSchema,
  BatchPageSchema,
  BatchRetrySchema,
  BatchSchema,
  BatchSubmissionSchema,
} from '@millrace/contracts';
import { RETRY_HEADER, SPEND_LIMIT_HEADER, SPEND_WARNING, defineEndpoint, pageQuery, recordId } from '../endpoints';
import { jobQuery } from '../jobs';

const reads = { method: 'get', tag: 'batches', access: { by: 'surface', scope: 'jobs:read' } } as const;
const writes = { method: 'post', tag: 'batches', access: { by: 'surface', scope: 'jobs:write' } } as const;
const batchParams = { id: recordId('batch', 'BatchId') };

const EXAMPLE = {
  workflow: {
    '1': { class_type: 'EmptyImage', inputs: { width: 512, height: 512, batch_size: 1, color: 0 } },
    '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'swatch' } },
  },
  table: { '1.color': [3368601, 16711680, 65280] },
  metadata: { user: 'u-42' },
};

/** The graphs' own texts are kept, so the handler reads the body as it came. */
export const postBatches = defineEndpoint({
  ...writes,
  id: 'postBatches',
  path: '/api/v2/batches',
  creates: '/api/v2/batches/{id}',
  summary: 'Submit a batch',
  description:
    'Takes up to 10,000 jobs under one id: listed, or as one workflow with a table of values. Each is a job like any other, with ' +
    'its own status, outputs and price; their holds are taken together, and they wait in the queue of the account, in the order of ' +
    'the batch.\n\n' +
    'All jobs are accepted or none: `batch_refused` then lists what is wrong with each, and nothing is recorded. With `"admission": ' +
    '"each"` those that can be accepted are, and `refused` of the answer lists the others. `Millrace-Reuse` is refused: jobs of batches always run.\n\n' +
    'With an `Idempotency-Key` the same body with the same headers is answered with the same batch, for as long as the batch can be read.',
  idempotencyKey: 'accepts-repeats',
  parameters: [RETRY_HEADER, SPEND_LIMIT_HEADER],
  rawBody: { contentType: 'application/json', schema: BatchSubmissionSchema },
  example: EXAMPLE,
  answers: {
    201: {
      description: 'The batch is recorded, and its jobs are queued.',
      schema: BatchSchema,
      headers: { 'Millrace-Spend-Warning': SPEND_WARNING },
    },
    200: { description: 'The batch that an earlier request with this key made.', schema: BatchSchema },
  },
  errors: [
    'invalid_field',
    'payload_too_large',
    'unsupported_media_type',
    'late_body',
    'batch_refused',
    'workflow_format_ui',
    'metadata_invalid',
    'missing_asset',
    'idempotency_key_reuse',
    'deployment_stopped',
    'insufficient_credits',
    'queue_full',
    'label_limit',
    'label_spend_limit',
    'spend_cap',
    'storage_full',
    'deployment_not_ready',
  ],
});

export const listBatches = defineEndpoint({
  ...reads,
  id: 'listBatches',
  path: '/api/v2/batches',
  summary: 'List batches',
  description: 'The batches of this surface, newest first. Follow `next_cursor` until it is absent.',
  query: z.object(pageQuery),
  answers: { 200: { description: 'A page of batches.', schema: BatchPageSchema } },
  errors: ['invalid_cursor'],
});

export const getBatch = defineEndpoint({
  ...reads,
  id: 'getBatch',
  path: '/api/v2/batches/{id}',
  params: batchParams,
  summary: 'Read a batch',
  description: 'How many of its jobs are in each state, how far it is, and what it has cost so far.',
  answers: { 200: { description: 'The batch.', schema: BatchSchema } },
});

export const listBatchJobs = defineEndpoint({
  ...reads,
  id: 'listBatchJobs',
  path: '/api/v2/batches/{id}/jobs',
  params: batchParams,
  summary: 'List the jobs of a batch',
  description:
    'In the order of the batch, outputs included. `batch_index` is the place of a job among those that were asked for.',
  query: z.object({ ...pageQuery, status: jobQuery.shape.status }),
  answers: { 200: { description: 'A page of jobs.', schema: BatchJobPageSchema } },
  errors: ['invalid_cursor'],
});

export const getBatchEvents = defineEndpoint({
  ...reads,
  id: 'getBatchEvents',
  path: '/api/v2/batches/{id}/events',
  params: batchParams,
  summary: 'Follow a batch',
  description:
    'Server-sent events, live. On connecting: a `status`. After that a `job` for each job that ends, and `progress` when the counts ' +
    'have changed, every second or less often. The stream ends with another `status`, after every `job`, when all jobs have ended. ' +
    'Nothing is replayed and events carry no id: what ended while nobody listened is in the list of jobs. ' +
    'A comment line comes at least every 15 seconds.',
  answers: { 200: { description: 'The events, until all jobs have ended; see `x-sse-events`.' } },
  events: {
    status: { description: 'The batch, on connecting and at its end.', schema: BatchEventSchemas.status },
    progress: { description: 'The latest counts, progress and cost.', schema: BatchEventSchemas.progress },
    job: { description: 'A job has ended.', schema: BatchEventSchemas.job },
  },
  raw: true,
  errors: ['too_many_streams'],
});

export const getBatchResults = defineEndpoint({
  ...reads,
  id: 'getBatchResults',
  path: '/api/v2/batches/{id}/results',
  params: batchParams,
  summary: 'Read all jobs of a batch',
  description: 'Every job as `/jobs` lists it, in the order of the batch, each on a line of its own, in one answer.',
  answers: {
    200: {
      description: 'The jobs, as newline-delimited JSON.',
      content: { 'application/x-ndjson': { type: 'string', description: 'A `BatchJob` on each line.' } },
    },
  },
  raw: true,
  errors: ['too_many_streams'],
});

export const getBatchArchive = defineEndpoint({
  ...reads,
  id: 'getBatchArchive',
  path: '/api/v2/batches/{id}/outputs.zip',
  params: batchParams,
  summary: 'Download the outputs of a batch',
  description:
    'One ZIP stream, uncompressed, with a folder for each job, named by its `batch_index`. Its last file, `manifest.json`, lists every ' +
    'job with its id, status and outputs: path in the archive, node, name, size and hash. Of outputs whose bytes are gone `included` ' +
    'is false. While jobs run, it has those that have ended. An archive that breaks off cannot be opened: download it again.',
  answers: {
    200: {
      description: 'The archive.',
      content: { 'application/zip': { type: 'string', format: 'binary' } },
      headers: {
        'Content-Disposition': { description: 'A name for the file.', required: true, schema: { type: 'string' } },
      },
    },
  },
  raw: true,
  errors: ['too_many_streams'],
});

export const cancelBatch = defineEndpoint({
  ...writes,
  id: 'cancelBatch',
  path: '/api/v2/batches/{id}/cancel',
  params: batchParams,
  summary: 'Cancel a batch',
  description:
    'Cancels every job that has not ended, each as if it were canceled alone. Of a large batch some are canceled in the seconds after ' +
    'the answer. While its jobs are being tried again by another request it is refused, after a moment: send it again.',
  answers: { 200: { description: 'The batch.', schema: BatchSchema } },
  errors: ['batch_busy'],
});

export const retryBatch = defineEndpoint({
  ...writes,
  id: 'retryBatch',
  path: '/api/v2/batches/{id}/retry',
  params: batchParams,
  summary: 'Retry the failed jobs of a batch',
  description:
    'Each job that failed gets a new job in its place, with the same graph, metadata and limits; with `statuses` those that were ' +
    'canceled or have expired, too. They are checked, take their holds and wait as jobs of a new batch do. An earlier job can still be ' +
    'read by its id, and its cost stays that of the batch. The new ones can be read until `expires_at` of the batch.\n\n' +
    'With an `Idempotency-Key` a repeat changes nothing, also after a job of the retry has failed.',
  idempotencyKey: 'accepts-repeats',
  body: BatchRetrySchema,
  example: { statuses: ['failed', 'canceled'] },
  answers: {
    200: {
      description: 'The batch. Where no job ended so, it is as it was.',
      schema: BatchSchema,
      headers: { 'Millrace-Spend-Warning': SPEND_WARNING },
    },
  },
  errors: [
    'invalid_field',
    'batch_busy',
    'batch_refused',
    'idempotency_key_reuse',
    'deployment_stopped',
    'insufficient_credits',
    'queue_full',
    'label_limit',
    'label_spend_limit',
    'spend_cap',
    'storage_full',
    'missing_asset',
    'deployment_not_ready',
  ],
});
