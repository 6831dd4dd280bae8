import {
  CapturedLogsSchema,
  JOB_STATUSES,
  JobEventSchemas,
  JobNodesSchema,
  JobPageSchema,
  JobSchema,
  JobSubmissionSchema,
  JobWorkflowSchema,
} from '@millrace/contracts';
import { BODY_ERRORS, emptyAnswer, errorsBehindCredential, jsonAnswer } from './answers';
import { parameterRef, refTo } from './components';
import type { Operation, Parameter, PathItem } from './openapi-types';

const jobId = parameterRef('JobId');
const requestId = parameterRef('RequestId');
const tags = ['jobs'];

const EXAMPLE_SUBMISSION = {
  workflow: {
    '1': { class_type: 'EmptyImage', inputs: { width: 512, height: 512, batch_size: 1, color: 3368601 } },
    '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'blue' } },
  },
  metadata: { user: 'u-42' },
};

const postJobs: Operation = {
  operationId: 'postJobs',
  tags,
  summary: 'Submit a workflow',
  description:
    'Takes a graph in API format, checks all of it, and records it as a job. 201 means that the job is committed: it will ' +
    'run, whatever happens to the service. Every fault of the graph is told at once, by node and input.\n\n' +
    'With an `Idempotency-Key` a retry cannot make a second job: a key that led to a job is refused from then on, and ' +
    'nothing is replayed. When no answer came, send the same request again, or list your jobs.\n\n' +
    '`webhook_url` and `inputs` are reserved: their presence is refused. Other unknown fields are ignored; ' +
    '`extra_data` takes the listed keys only, and their values are forwarded to the run and kept nowhere.',
  parameters: [parameterRef('IdempotencyKey'), requestId],
  requestBody: {
    required: true,
    content: { 'application/json': { schema: refTo(JobSubmissionSchema), example: EXAMPLE_SUBMISSION } },
  },
  responses: {
    '201': jsonAnswer('The job is recorded and queued.', JobSchema),
    ...errorsBehindCredential(
      ...BODY_ERRORS,
      'invalid_workflow',
      'workflow_format_ui',
      'missing_asset',
      'metadata_invalid',
      'idempotency_key_reuse',
      'deployment_stopped',
      'insufficient_credits',
      'queue_full',
      'deployment_not_ready',
      'not_found',
    ),
  },
};

const listParameters: Parameter[] = [
  {
    name: 'limit',
    in: 'query',
    required: false,
    description: 'Jobs on a page.',
    schema: { type: 'integer', minimum: 1, maximum: 100, default: 20 },
  },
  {
    name: 'cursor',
    in: 'query',
    required: false,
    description: '`next_cursor` of the page before.',
    schema: { type: 'string' },
  },
  {
    name: 'status',
    in: 'query',
    required: false,
    description: 'Only jobs in this state.',
    schema: { type: 'string', enum: JOB_STATUSES },
  },
  {
    name: 'metadata',
    in: 'query',
    required: false,
    description: 'Only jobs with these labels: `metadata[key]=value`, at most three.',
    schema: { type: 'object', additionalProperties: { type: 'string', maxLength: 256 }, maxProperties: 3 },
    style: 'deepObject',
    explode: true,
  },
];

const listJobs: Operation = {
  operationId: 'listJobs',
  tags,
  summary: 'List jobs',
  description:
    'The jobs of this surface, newest first. Follow `next_cursor` until it is absent; a job that is submitted meanwhile ' +
    'shifts nothing.',
  parameters: [...listParameters, requestId],
  responses: {
    '200': jsonAnswer('A page of jobs.', JobPageSchema),
    ...errorsBehindCredential('invalid_cursor', 'invalid_metadata_filter', 'not_found'),
  },
};

const getJob: Operation = {
  operationId: 'getJob',
  tags,
  summary: 'Read a job',
  description:
    'Status, progress, and every output so far: all that the event stream tells, for polling. The one answer that carries ' +
    '`logs`, where they are captured.',
  parameters: [jobId, requestId],
  responses: { '200': jsonAnswer('The job.', JobSchema), ...errorsBehindCredential('not_found') },
};

const getJobWorkflow: Operation = {
  operationId: 'getJobWorkflow',
  tags,
  summary: "Read a job's graph",
  description:
    'The graph as it was submitted, character for character: 64-bit integers, `1.0`, key order and escapes included. A ' +
    'reader whose numbers are doubles should take care.',
  parameters: [jobId, requestId],
  responses: { '200': jsonAnswer('The graph.', JobWorkflowSchema), ...errorsBehindCredential('not_found') },
};

const getJobNodes: Operation = {
  operationId: 'getJobNodes',
  tags,
  summary: 'Read what each node took',
  description: 'Times of the nodes of the last attempt that ended; empty before.',
  parameters: [jobId, requestId],
  responses: { '200': jsonAnswer('The nodes.', JobNodesSchema), ...errorsBehindCredential('not_found') },
};

const getJobLogs: Operation = {
  operationId: 'getJobLogs',
  tags,
  summary: 'Read what a job printed',
  description:
    'The end of what the run wrote to its standard output, in write order, for any job of a deployment that has ended, ' +
    'however it ended; as long as the job can be retrieved. 204 wherever there is none: on other surfaces, before the end, ' +
    'and on public demo deployments, which withhold it. `urls.logs` stands in the job only where logs are shown.',
  parameters: [jobId, requestId],
  responses: {
    '200': jsonAnswer('What was printed.', CapturedLogsSchema),
    '204': emptyAnswer('There is nothing to show.'),
    ...errorsBehindCredential('not_found'),
  },
};

/** JSON Schema can say what is inside a text; each frame's `data` is one of these. */
const EVENT_STREAM = {
  type: 'string',
  description: 'Frames with `event` and `data`; the data of each is JSON.',
  contentSchema: { anyOf: Object.values(JobEventSchemas).map((schema) => refTo(schema)) },
};

const getJobEvents: Operation = {
  operationId: 'getJobEvents',
  tags,
  summary: 'Follow a job',
  description:
    'Server-sent events, live. On connecting: a `status`, then the latest `progress` and `preview` if there are any. After ' +
    'that every transition; outputs come before the terminal `status`, with which the stream ends. Nothing is replayed and ' +
    'events carry no id: each is whole, so that one of each kind brings a reader up to date, and polling tells the same. A ' +
    'comment line comes at least every 15 seconds.',
  parameters: [jobId, requestId],
  responses: {
    '200': {
      ...emptyAnswer('The events, until the job has ended; see `x-sse-events`.'),
      content: { 'text/event-stream': { schema: EVENT_STREAM } },
    },
    ...errorsBehindCredential('not_found', 'too_many_streams'),
  },
  'x-sse-events': {
    status: {
      description: 'On connecting, on every transition, and when the place in the queue changes.',
      schema: refTo(JobEventSchemas.status),
    },
    progress: {
      description: 'Two to four times a second at most; the last is always sent.',
      schema: refTo(JobEventSchemas.progress),
    },
    preview: { description: 'The latest picture of work in progress.', schema: refTo(JobEventSchemas.preview) },
    output: { description: 'As soon as it is committed.', schema: refTo(JobEventSchemas.output) },
  },
};

const cancelJob: Operation = {
  operationId: 'cancelJob',
  tags,
  summary: 'Cancel a job',
  description:
    'Queued: canceled at once, nothing is charged. Running: `canceling`, until the engine has stopped; what it used by then ' +
    'is charged. Ended: nothing happens. Canceling twice is canceling once.',
  parameters: [jobId, requestId],
  responses: { '200': jsonAnswer('The job.', JobSchema), ...errorsBehindCredential('not_found') },
};

export const JOB_PATHS: Record<string, PathItem> = {
  '/api/v2/jobs': { get: listJobs, post: postJobs },
  '/api/v2/jobs/{id}': { get: getJob },
  '/api/v2/jobs/{id}/workflow': { get: getJobWorkflow },
  '/api/v2/jobs/{id}/logs': { get: getJobLogs },
  '/api/v2/jobs/{id}/nodes': { get: getJobNodes },
  '/api/v2/jobs/{id}/events': { get: getJobEvents },
  '/api/v2/jobs/{id}/cancel': { post: cancelJob },
};

/** Shapes that these operations speak of. */
export const JOB_SCHEMAS = [
  JobSchema,
  JobPageSchema,
  JobSubmissionSchema,
  JobWorkflowSchema,
  JobNodesSchema,
  CapturedLogsSchema,
  ...Object.values(JobEventSchemas),
];
