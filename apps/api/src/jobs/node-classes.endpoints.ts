import { NodeClassesSchema } from '@millrace/contracts';
import { defineEndpoint } from '../endpoints';
import { IF_NONE_MATCH } from './if-none-match';

/** It is one caller's: another key of the same address may see other models. */
export const NODE_CLASSES_CACHE = 'private, no-cache';

const HEADERS = {
  ETag: { description: 'Names what the answer shows.', required: true, schema: { type: 'string' } },
  'Cache-Control': { description: `\`${NODE_CLASSES_CACHE}\``, required: true, schema: { type: 'string' } },
} as const;

export const listNodeClasses = defineEndpoint({
  id: 'listNodeClasses',
  method: 'get',
  path: '/api/v2/node-classes',
  tag: 'jobs',
  access: { by: 'surface', scope: 'jobs:read' },
  summary: 'List node classes',
  description:
    'What graphs can be made of on this surface: each node class that its workers can run, with its inputs, their types, ' +
    'bounds, choices and defaults, and its outputs. Submissions are checked against the same. It changes when workers with ' +
    'other nodes register. Inputs with `library_models` have the models among their choices that the caller may use (500 at most), own ' +
    'and shared: `library_options` says which these are. A key without `assets:read` is shown none, a sub-key shared ones alone. What is ' +
    'uploaded or deleted is seen within five seconds. Send the `ETag` of the last answer as `If-None-Match`: 304 says that nothing has changed.',
  parameters: [IF_NONE_MATCH],
  answers: {
    200: { description: 'The node classes.', schema: NodeClassesSchema, headers: HEADERS },
    304: { description: 'Nothing has changed since the answer with this `ETag`.', headers: HEADERS },
  },
  errors: ['queue_full', 'deployment_not_ready', 'deployment_stopped'],
});
