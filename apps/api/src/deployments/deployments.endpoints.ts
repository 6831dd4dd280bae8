import { defineEndpoint, recordId } from '../endpoints';
import { DeploymentListSchema, DeploymentSchema } from './deployment.schemas';

const common = { method: 'get', tag: 'deployments', access: { by: 'api_key', scope: 'jobs:read' } } as const;

export const listDeployments = defineEndpoint({
  ...common,
  id: 'listDeployments',
  path: '/platform/v1/deployments',
  summary: 'List deployments',
  description: 'The deployments of the account, with their states, newest first.',
  answers: { 200: { description: 'The deployments.', schema: DeploymentListSchema } },
});

export const getDeployment = defineEndpoint({
  ...common,
  id: 'getDeployment',
  path: '/platform/v1/deployments/{id}',
  params: { id: recordId('deployment') },
  summary: 'Read a deployment',
  description: 'Its address, its state, its price and its limits.',
  answers: { 200: { description: 'The deployment.', schema: DeploymentSchema } },
});
