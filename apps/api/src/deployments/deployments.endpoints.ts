import { defineEndpoint, pageQuery, recordId } from '../endpoints';
import { z } from 'zod';
import { DeploymentStartsSchema } from './deployment-starts';
import {
  DeploymentChangePageSchema,
  DeploymentListSchema,
  DeploymentRemovalQuery,
  DeploymentSchema,
  OwnDeploymentCreateSchema,
  OwnDeploymentUpdateSchema,
  WARM_UP_BODY_BYTES,
} from './deployment.schemas';

const common = { method: 'get', tag: 'deployments', access: { by: 'api_key', scope: 'jobs:read' } } as const;
const acts = { tag: 'deployments', access: { by: 'api_key', scope: 'deployments:write' } } as const;
const params = { id: recordId('deployment') };
const answers = { 200: { description: 'The deployment as it is now.', schema: DeploymentSchema } };

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
  params,
  summary: 'Read a deployment',
  description: 'Its address, its state, its price and its limits.',
  answers: { 200: { description: 'The deployment.', schema: DeploymentSchema } },
});

export const listDeploymentChanges = defineEndpoint({
  ...common,
  id: 'listDeploymentChanges',
  path: '/platform/v1/deployments/{id}/changes',
  params,
  query: z.object(pageQuery),
  summary: 'Read what was done to a deployment',
  description: 'By the account and by operators, newest first, for as long as the service keeps its audit log.',
  answers: { 200: { description: 'A page of changes.', schema: DeploymentChangePageSchema } },
  errors: ['invalid_cursor'],
});

export const createOwnDeployment = defineEndpoint({
  ...acts,
  id: 'createOwnDeployment',
  method: 'post',
  path: '/platform/v1/deployments',
  creates: '/platform/v1/deployments/{id}',
  summary: 'Create a deployment',
  description:
    'A surface of the account with workers, a queue and limits of its own, at the price of its engine class. How many an account ' +
    'may make is one of its limits.',
  body: OwnDeploymentCreateSchema,
  bodyBytes: WARM_UP_BODY_BYTES,
  answers: { 201: { description: 'The deployment was created.', schema: DeploymentSchema } },
  errors: ['deployment_limit'],
});

export const updateOwnDeployment = defineEndpoint({
  ...acts,
  id: 'updateOwnDeployment',
  method: 'patch',
  path: '/platform/v1/deployments/{id}',
  params,
  summary: 'Change a deployment',
  description:
    'Jobs that run are not interrupted. With another class a version of another number begins, which takes jobs as soon as a worker of that ' +
    'class is ready; jobs that wait run there, at its price. To have jobs taken meanwhile, add a version instead, and end the other one.',
  body: OwnDeploymentUpdateSchema,
  bodyBytes: WARM_UP_BODY_BYTES,
  answers,
  errors: ['deployment_busy', 'deployment_limit'],
});

export const startOwnDeployment = defineEndpoint({
  ...acts,
  id: 'startOwnDeployment',
  method: 'post',
  path: '/platform/v1/deployments/{id}/start',
  params,
  summary: 'Start a deployment',
  description: 'Waiting jobs are dispatched again. Starting a deployment that is not stopped changes nothing.',
  answers,
});

export const stopOwnDeployment = defineEndpoint({
  ...acts,
  id: 'stopOwnDeployment',
  method: 'post',
  path: '/platform/v1/deployments/{id}/stop',
  params,
  summary: 'Stop a deployment',
  description:
    'It takes no new jobs and starts none. Running jobs run to their end; waiting jobs wait until it is started.',
  answers,
});

export const deleteOwnDeployment = defineEndpoint({
  ...acts,
  id: 'deleteOwnDeployment',
  method: 'delete',
  path: '/platform/v1/deployments/{id}',
  params,
  query: DeploymentRemovalQuery,
  summary: 'Delete a deployment',
  description:
    'It is not found from then on, and takes no more requests but those that read: its jobs can be read at its address until they ' +
    'expire. Bills keep what it cost. While jobs wait or run it is refused, or drains first.',
  answers: { 204: { description: 'The deployment is deleted, or drains and is deleted then.' } },
  errors: ['deployment_busy'],
});

export const listDeploymentStarts = defineEndpoint({
  ...common,
  id: 'listDeploymentStarts',
  path: '/platform/v1/deployments/{id}/starts',
  params,
  summary: 'Read how long its workers take to start',
  description:
    'The latest starts of its workers by phase, and what is typical: a machine, images, boot, models, warm-up.',
  answers: { 200: { description: 'The starts.', schema: DeploymentStartsSchema } },
});
