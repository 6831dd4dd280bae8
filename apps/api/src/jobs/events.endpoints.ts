import { JobEventSchemas } from '@millrace/contracts';
import { defineEndpoint } from '../endpoints';
import { jobParams } from './jobs.endpoints';

export const getJobEvents = defineEndpoint({
  id: 'getJobEvents',
  method: 'get',
  path: '/api/v2/jobs/{id}/events',
  params: jobParams,
  tag: 'jobs',
  access: { by: 'surface', scope: 'jobs:read' },
  summary: 'Follow a job',
  description:
    'Server-sent events, live. On connecting: a `status`, then the latest `progress` and `preview` if there are any. After ' +
    'that every transition; outputs come before the terminal `status`, with which the stream ends. Nothing is replayed and ' +
    'events carry no id: each is complete, so that one of each kind brings a reader up to date, and polling shows the same. ' +
    'A comment line comes at least every 15 seconds.',
  answers: { 200: { description: 'The events, until the job has ended; see `x-sse-events`.' } },
  events: {
    status: {
      description:
        'On connecting, on every transition, and when the place in the queue changes. Outputs beyond 1 MiB are left out, and ' +
        '`outputs_left_out` says how many.',
      schema: JobEventSchemas.status,
    },
    progress: {
      description: 'Two to four times a second at most; the last is always sent.',
      schema: JobEventSchemas.progress,
    },
    preview: { description: 'The latest picture of work in progress.', schema: JobEventSchemas.preview },
    output: { description: 'As soon as it is committed.', schema: JobEventSchemas.output },
  },
  raw: true,
  errors: ['too_many_streams'],
});
