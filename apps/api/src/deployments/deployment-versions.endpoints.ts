import { defineEndpoint, recordId } from '../endpoints';
import { WARM_UP_BODY_BYTES } from './deployment.schemas';
import {
  DeploymentVersionsSchema,
  OwnVersionCreateSchema,
  VersionWeightSchema,
  versionNumber,
} from './deployment-versions.schemas';

const params = { id: recordId('deployment') };
const versionParams = { ...params, version: versionNumber };
const answers = { 200: { description: 'The versions as they are now.', schema: DeploymentVersionsSchema } };

export const listDeploymentVersions = defineEndpoint({
  tag: 'deployments',
  access: { by: 'api_key', scope: 'jobs:read' },
  id: 'listDeploymentVersions',
  method: 'get',
  path: '/platform/v1/deployments/{id}/versions',
  params,
  summary: 'List the versions of a deployment',
  description: 'Those that take jobs, with their states and shares, and those that have ended.',
  answers,
});

export const addDeploymentVersion = defineEndpoint({
  tag: 'deployments',
  access: { by: 'api_key', scope: 'deployments:write' },
  id: 'addDeploymentVersion',
  method: 'post',
  path: '/platform/v1/deployments/{id}/versions',
  params,
  summary: 'Add a version',
  description:
    'Another version beside the present one, with workers of its own, that takes a share of the jobs as soon as it is ready: until then, and while it is not, the present one takes all. Two versions are live at most.',
  body: OwnVersionCreateSchema,
  bodyBytes: WARM_UP_BODY_BYTES,
  answers,
  errors: ['deployment_busy', 'deployment_limit'],
});

export const weighDeploymentVersion = defineEndpoint({
  tag: 'deployments',
  access: { by: 'api_key', scope: 'deployments:write' },
  id: 'weighDeploymentVersion',
  method: 'patch',
  path: '/platform/v1/deployments/{id}/versions/{version}',
  params: versionParams,
  summary: 'Give a version its share',
  description:
    'From now on; the other version takes the rest. Another process of the service may take a second to know it.',
  body: VersionWeightSchema,
  example: { weight: 10 },
  answers,
});

export const rollBackDeployment = defineEndpoint({
  tag: 'deployments',
  access: { by: 'api_key', scope: 'deployments:write' },
  id: 'rollBackDeployment',
  method: 'post',
  path: '/platform/v1/deployments/{id}/rollback',
  params,
  summary: 'Roll back to the older version',
  description:
    'The older of the two live versions takes all jobs at once, and those that wait for the newer one, at its own price. What runs on the newer one runs to its end.',
  answers,
});

export const endDeploymentVersion = defineEndpoint({
  tag: 'deployments',
  access: { by: 'api_key', scope: 'deployments:write' },
  id: 'endDeploymentVersion',
  method: 'delete',
  path: '/platform/v1/deployments/{id}/versions/{version}',
  params: versionParams,
  summary: 'End a version',
  description:
    'The other one takes all jobs, and those that wait for it, at its own price. Its workers go when what they run has ended.',
  answers,
});
