import { defineEndpoint } from '../endpoints';
import { serviceStatus } from './status.presenter';

const common = { method: 'get', tag: 'status', access: { by: 'nothing' } } as const;
const MEANING =
  'From the same recorded figures and alerts that operators go by, no more than 30 seconds old; while they cannot be read, the last ' +
  'ones for ten minutes. It asks the database nothing, so it answers while that is away.';

export const getStatus = defineEndpoint({
  ...common,
  id: 'getStatus',
  path: '/platform/v1/status',
  summary: 'See how the service does',
  description: MEANING,
  answers: { 200: { description: 'How it does.', schema: serviceStatus } },
});

export const getStatusPage = defineEndpoint({
  ...common,
  id: 'getStatusPage',
  path: '/status',
  summary: 'The same as a page',
  description: 'A page without scripts and without anything from elsewhere.',
  raw: true,
  answers: { 200: { description: 'The page.', content: { 'text/html': { type: 'string' } } } },
});
