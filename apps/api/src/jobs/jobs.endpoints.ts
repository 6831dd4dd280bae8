import {
  CapturedLogsSchema,
  JobAttemptsSchema,
  JobNodesSchema,
  JobPageSchema,
  JobSchema,
  JobStandingSchema,
  JobSubmissionSchema,
  JobWorkflowSchema,
} from '@millrace/contracts';
import {
  RETRY_HEADER,
  REUSE_ANSWER,
  REUSE_HEADER,
  SPEND_LIMIT_HEADER,
  SPEND_WARNING,
  defineEndpoint,
  recordId,
} from '../endpoints';
import { IF_NONE_MATCH } from './if-none-match';
import { jobQuery, metadataFilter } from './job-query';

const reads = { method: 'get', tag: 'jobs', access: { by: 'surface', scope: 'jobs:read' } } as const;
const writes = { method: 'post', tag: 'jobs', access: { by: 'surface', scope: 'jobs:write' } } as const;
export const jobParams = { id: recordId('job', 'JobId') };

/** A body that every engine runs. */
export const EXAMPLE_SUBMISSION = {
  workflow: {
    '1': { class_type: 'EmptyImage', inputs: { width: 512, height: 512, batch_size: 1, color: 3368601 } },
    '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'blue' } },
  },
  metadata: { user: 'u-42' },
};

/** The graph's own text is kept, so the handler reads the body as it came. */
export const postJobs = defineEndpoint({
  ...writes,
  id: 'postJobs',
  path: '/api/v2/jobs',
  creates: '/api/v2/jobs/{id}',
  summary: 'Submit a workflow',
  description:
    'Takes a graph in API format, checks all of it, and records it as a job. 201 means that the job is committed: it will ' +
    'run even if the service fails meanwhile. All faults of the graph are reported at once, by node and input.\n\n' +
    'With an `Idempotency-Key` a retry cannot create a second job: a key that created a job is refused from then on, and ' +
    'nothing is replayed. If no answer arrived, send the same request again, or list your jobs.\n\n' +
    '`webhook_url` and `inputs` are reserved and refused. Other unknown fields are ignored; `extra_data` takes only the ' +
    'listed keys, and their values are forwarded to the run and not stored.',
  idempotencyKey: 'refuses-repeats',
  parameters: [RETRY_HEADER, REUSE_HEADER, SPEND_LIMIT_HEADER],
  rawBody: { contentType: 'application/json', schema: JobSubmissionSchema },
  example: EXAMPLE_SUBMISSION,
  answers: {
    201: {
      description: 'The job is recorded and queued; one that is answered with earlier outputs has succeeded.',
      schema: JobSchema,
      headers: { 'Millrace-Reuse': REUSE_ANSWER, 'Millrace-Spend-Warning': SPEND_WARNING },
    },
  },
  errors: [
    'invalid_field',
    'payload_too_large',
    'unsupported_media_type',
    'late_body',
    'invalid_workflow',
    'workflow_format_ui',
    'missing_asset',
    'metadata_invalid',
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

export const listJobs = defineEndpoint({
  ...reads,
  id: 'listJobs',
  path: '/api/v2/jobs',
  summary: 'List jobs',
  description:
    'The jobs of this surface, newest first. Follow `next_cursor` until it is absent; jobs that are submitted meanwhile do ' +
    'not shift the pages. A page has fewer jobs than `limit` where they have very many outputs: it ends with the job that ' +
    'has the thousandth of the page.',
  query: jobQuery,
  parameters: [metadataFilter],
  answers: { 200: { description: 'A page of jobs.', schema: JobPageSchema } },
  errors: ['invalid_cursor', 'invalid_metadata_filter'],
});

const POLL_HEADERS = {
  ETag: {
    description: 'Names what the answer shows, for a part of the time for which its links work.',
    required: true,
    schema: { type: 'string' },
  },
  'Cache-Control': { description: '`private, no-cache`', required: true, schema: { type: 'string' } },
} as const;

export const getJob = defineEndpoint({
  ...reads,
  id: 'getJob',
  path: '/api/v2/jobs/{id}',
  params: jobParams,
  countedAs: 'polls',
  summary: 'Read a job',
  description:
    'Status, progress, and every output so far: everything that the event stream sends, for polling. Only this answer ' +
    'carries `logs`, where they are captured. Send the `ETag` of the last answer as `If-None-Match`: 304 says that nothing ' +
    'has changed, and that the links of that answer still work. Keep the answer that you have then.',
  parameters: [IF_NONE_MATCH],
  answers: {
    200: { description: 'The job.', schema: JobSchema, headers: POLL_HEADERS },
    304: { description: 'Nothing has changed since the answer with this `ETag`.', headers: POLL_HEADERS },
  },
});

export const getJobWorkflow = defineEndpoint({
  ...reads,
  id: 'getJobWorkflow',
  path: '/api/v2/jobs/{id}/workflow',
  params: jobParams,
  summary: "Read a job's graph",
  description:
    'The graph as it was submitted, character for character: 64-bit integers, `1.0`, key order and escapes included. ' +
    'Parsers whose numbers are doubles lose digits of 64-bit integers.',
  answers: { 200: { description: 'The graph.', schema: JobWorkflowSchema } },
  raw: true,
});

export const getJobLogs = defineEndpoint({
  ...reads,
  id: 'getJobLogs',
  path: '/api/v2/jobs/{id}/logs',
  params: jobParams,
  summary: 'Read what a job printed',
  description:
    'The end of what the run wrote to its standard output, in write order, for any ended job of a deployment, as long as ' +
    'the job can be retrieved. 204 where there is none: on other surfaces, before the job has ended, and on public demo ' +
    'deployments, which withhold it. A job has `urls.logs` only where logs are shown.',
  answers: {
    200: { description: 'What was printed.', schema: CapturedLogsSchema },
    204: { description: 'There is nothing to show.' },
  },
});

export const getJobNodes = defineEndpoint({
  ...reads,
  id: 'getJobNodes',
  path: '/api/v2/jobs/{id}/nodes',
  params: jobParams,
  summary: 'Read how long each node took',
  description: 'Times of the nodes of the last attempt that ended; empty before.',
  answers: { 200: { description: 'The nodes.', schema: JobNodesSchema } },
});

export const getJobAttempts = defineEndpoint({
  ...reads,
  id: 'getJobAttempts',
  path: '/api/v2/jobs/{id}/attempts',
  params: jobParams,
  summary: 'Read the attempts of a job',
  description:
    'Each try of a worker to run the job: when it began and ended, how, and whether it was charged. A job gets another attempt when ' +
    'its worker or its engine is lost, when its worker is stopped, or when its retry policy has a failure tried again; its status stays ' +
    '`running` meanwhile.',
  answers: { 200: { description: 'The attempts.', schema: JobAttemptsSchema } },
});

export const getJobStanding = defineEndpoint({
  ...reads,
  id: 'getJobStanding',
  path: '/platform/v1/jobs/{id}',
  params: jobParams,
  summary: 'Read why a job waits',
  description:
    'What keeps a job from running, as it is at this moment. What is wrong with the workers of a deployment is said to the keys of its ' +
    'account; sub-keys and the callers of a demo deployment read only that none is ready.\n\n' +
    'For a deployment, send it to the address of the deployment: `/deployment/<id>/platform/v1/jobs/<job>`.',
  answers: { 200: { description: 'Where the job stands.', schema: JobStandingSchema } },
});

export const cancelJob = defineEndpoint({
  ...writes,
  id: 'cancelJob',
  path: '/api/v2/jobs/{id}/cancel',
  params: jobParams,
  summary: 'Cancel a job',
  description:
    'Queued: canceled at once, nothing is charged. Running: `canceling`, until the engine has stopped; the engine time used ' +
    'by then is charged. Ended or canceled: nothing changes.',
  answers: { 200: { description: 'The job.', schema: JobSchema } },
});
