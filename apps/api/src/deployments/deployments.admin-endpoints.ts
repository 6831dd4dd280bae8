import { z } from 'zod';
import { defineEndpoint, pageQuery, recordId } from '../endpoints';
import { DeploymentStartsSchema } from './deployment-starts';
import {
  DeploymentChangePageSchema,
  DeploymentCreateSchema,
  DeploymentRemovalQuery,
  DeploymentUpdateSchema,
  OperatedDeploymentPageSchema,
  OperatedDeploymentSchema,
  WARM_UP_BODY_BYTES,
} from './deployment.schemas';

const common = { tag: 'deployments' } as const;
const params = { id: recordId('deployment') };
const answers = { 200: { description: 'The deployment as it is now.', schema: OperatedDeploymentSchema } };

export const createDeployment = defineEndpoint({
  ...common,
  id: 'createDeployment',
  access: { by: 'operator', role: 'operator' },
  method: 'post',
  path: '/admin/v1/deployments',
  creates: '/admin/v1/deployments/{id}',
  summary: 'Create a deployment',
  description:
    'A surface with a pool, a lane and a node catalogue of its own. It takes jobs as soon as a worker is ready: one ' +
    'that the fleet starts, or one of the operator with its `pool` as MILLRACE_POOL.',
  body: DeploymentCreateSchema,
  bodyBytes: WARM_UP_BODY_BYTES,
  answers: { 201: { description: 'The deployment was created.', schema: OperatedDeploymentSchema } },
  errors: ['not_found'],
});

export const listAllDeployments = defineEndpoint({
  ...common,
  id: 'listAllDeployments',
  access: { by: 'operator', role: 'viewer' },
  method: 'get',
  path: '/admin/v1/deployments',
  query: z.object(pageQuery),
  summary: 'List deployments',
  description: 'Deployments of all accounts, newest first, with their states and why.',
  answers: { 200: { description: 'A page of deployments.', schema: OperatedDeploymentPageSchema } },
  errors: ['invalid_cursor'],
});

export const readDeployment = defineEndpoint({
  ...common,
  id: 'readDeployment',
  access: { by: 'operator', role: 'viewer' },
  method: 'get',
  path: '/admin/v1/deployments/{id}',
  params,
  summary: 'Read a deployment',
  description: 'A deployment of any account.',
  answers,
});

export const startDeployment = defineEndpoint({
  ...common,
  id: 'startDeployment',
  access: { by: 'operator', role: 'operator' },
  method: 'post',
  path: '/admin/v1/deployments/{id}/start',
  params,
  summary: 'Start a deployment',
  description: 'Waiting jobs are dispatched again. Starting a deployment that is not stopped changes nothing.',
  answers,
});

export const stopDeployment = defineEndpoint({
  ...common,
  id: 'stopDeployment',
  access: { by: 'operator', role: 'operator' },
  method: 'post',
  path: '/admin/v1/deployments/{id}/stop',
  params,
  summary: 'Stop a deployment',
  description:
    'It takes no new jobs and starts none. Running jobs run to their end; waiting jobs wait until it is started again, or ' +
    'expire at their deadline. Jobs, assets and logs can be read as before.',
  answers,
});

export const updateDeployment = defineEndpoint({
  ...common,
  id: 'updateDeployment',
  access: { by: 'operator', role: 'operator' },
  method: 'patch',
  path: '/admin/v1/deployments/{id}',
  params,
  summary: 'Change a deployment',
  description:
    'Jobs that run are not interrupted: workers of another class come, and the old ones go when they are idle.',
  body: DeploymentUpdateSchema,
  bodyBytes: WARM_UP_BODY_BYTES,
  answers,
});

export const deleteDeployment = defineEndpoint({
  ...common,
  id: 'deleteDeployment',
  access: { by: 'operator', role: 'operator' },
  method: 'delete',
  path: '/admin/v1/deployments/{id}',
  params,
  query: DeploymentRemovalQuery,
  summary: 'Delete a deployment',
  description:
    'It is not found from then on. Its jobs can be read at its address until they expire; bills and logs keep their reference to it.',
  answers: { 204: { description: 'The deployment is deleted, or drains and is deleted then.' } },
  errors: ['deployment_busy'],
});

export const readDeploymentChanges = defineEndpoint({
  ...common,
  id: 'readDeploymentChanges',
  access: { by: 'operator', role: 'viewer' },
  method: 'get',
  path: '/admin/v1/deployments/{id}/changes',
  params,
  query: z.object(pageQuery),
  summary: 'Read what was done to a deployment',
  description: 'By its account and by operators, newest first, for as long as the audit log is kept.',
  answers: { 200: { description: 'A page of changes.', schema: DeploymentChangePageSchema } },
  errors: ['invalid_cursor'],
});

export const readDeploymentStarts = defineEndpoint({
  ...common,
  id: 'readDeploymentStarts',
  access: { by: 'operator', role: 'viewer' },
  method: 'get',
  path: '/admin/v1/deployments/{id}/starts',
  params,
  summary: 'Read how long its workers take to start',
  description:
    'The latest starts of its workers by phase, and what is typical: a machine, images, boot, models, warm-up.',
  answers: { 200: { description: 'The starts.', schema: DeploymentStartsSchema } },
});
