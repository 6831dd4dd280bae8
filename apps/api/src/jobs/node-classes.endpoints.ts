import { NodeClassesSchema } from '@millrace/contracts';
import { defineEndpoint } from '../endpoints';

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
    'other nodes register.',
  answers: { 200: { description: 'The node classes.', schema: NodeClassesSchema } },
  errors: ['queue_full', 'deployment_not_ready', 'deployment_stopped'],
});
