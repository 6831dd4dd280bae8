import { defineEndpoint, recordId } from '../endpoints';
import { WARM_UP_BODY_BYTES } from './deployment.schemas';
import {
  OperatedVersionsSchema,
  VersionCreateSchema,
  VersionWeightSchema,
  versionNumber,
} from './deployment-versions.schemas';

const params = { id: recordId('deployment') };
const versionParams = { ...params, version: versionNumber };
const answers = { 200: { description: 'The versions as they are now.', schema: OperatedVersionsSchema } };

export const readVersions = defineEndpoint({
  tag: 'deployments',
  access: { by: 'operator', role: 'viewer' },
  id: 'readVersions',
  method: 'get',
  path: '/admin/v1/deployments/{id}/versions',
  params,
  summary: 'List the versions of a deployment',
  description: 'Those that take jobs, with their states and shares, and those that have ended.',
  answers,
});

export const addVersion = defineEndpoint({
  tag: 'deployments',
  access: { by: 'operator', role: 'operator' },
  id: 'addVersion',
  method: 'post',
  path: '/admin/v1/deployments/{id}/versions',
  params,
  summary: 'Add a version',
  description:
    'Another version beside the present one, with workers of its own, that takes a share of the jobs as soon as it is ready: until then, and while it is not, the present one takes all. Two versions are live at most.',
  body: VersionCreateSchema,
  bodyBytes: WARM_UP_BODY_BYTES,
  answers,
  errors: ['deployment_busy'],
});

export const weighVersion = defineEndpoint({
  tag: 'deployments',
  access: { by: 'operator', role: 'operator' },
  id: 'weighVersion',
  method: 'patch',
  path: '/admin/v1/deployments/{id}/versions/{version}',
  params: versionParams,
  summary: 'Give a version its share',
  description:
    'From now on; the other version takes the rest. Another process of the service may take a second to know it.',
  body: VersionWeightSchema,
  example: { weight: 10 },
  answers,
});

export const rollBack = defineEndpoint({
  tag: 'deployments',
  access: { by: 'operator', role: 'operator' },
  id: 'rollBack',
  method: 'post',
  path: '/admin/v1/deployments/{id}/rollback',
  params,
  summary: 'Roll back to the older version',
  description:
    'The older of the two live versions takes all jobs at once, and those that wait for the newer one, which cost no more than was agreed. What runs on the newer one runs to its end.',
  answers,
});

export const endVersion = defineEndpoint({
  tag: 'deployments',
  access: { by: 'operator', role: 'operator' },
  id: 'endVersion',
  method: 'delete',
  path: '/admin/v1/deployments/{id}/versions/{version}',
  params: versionParams,
  summary: 'End a version',
  description:
    'The other one takes all jobs, and those that wait for it, which cost no more than was agreed. Its workers go when what they run has ended.',
  answers,
});
