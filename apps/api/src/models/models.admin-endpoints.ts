import { defineEndpoint, recordId } from '../endpoints';
import { ModelQuery, OperatedModelPageSchema, OperatedModelSchema } from './model.schemas';

const common = { tag: 'models' } as const;
const params = { id: recordId('model') };
const answers = { 200: { description: 'The model as it is now.', schema: OperatedModelSchema } };

export const listAllModels = defineEndpoint({
  ...common,
  id: 'listAllModels',
  access: { by: 'operator', role: 'viewer' },
  method: 'get',
  path: '/admin/v1/models',
  query: ModelQuery,
  summary: 'List models',
  description: 'Models of all accounts, newest first.',
  answers: { 200: { description: 'A page of models.', schema: OperatedModelPageSchema } },
  errors: ['invalid_cursor'],
});

export const readModel = defineEndpoint({
  ...common,
  id: 'readModel',
  access: { by: 'operator', role: 'viewer' },
  method: 'get',
  path: '/admin/v1/models/{id}',
  params,
  summary: 'Read a model',
  description: 'A model of any account.',
  answers,
});

export const shareModel = defineEndpoint({
  ...common,
  id: 'shareModel',
  access: { by: 'operator', role: 'operator', reason: true },
  method: 'post',
  path: '/admin/v1/models/{id}/share',
  params,
  summary: 'Share a model',
  description:
    'Every account may use it from then on, where it has none of its own of the same folder and name. Its bytes count as stored ' +
    'by the account that has it.',
  answers,
  errors: ['model_exists', 'model_refused'],
});

export const unshareModel = defineEndpoint({
  ...common,
  id: 'unshareModel',
  access: { by: 'operator', role: 'operator', reason: true },
  method: 'post',
  path: '/admin/v1/models/{id}/unshare',
  params,
  summary: 'Stop sharing a model',
  description: 'Only the account that has it may use it from then on. Jobs of others that name it may fail.',
  answers,
  errors: ['model_refused'],
});

export const removeModel = defineEndpoint({
  ...common,
  id: 'removeModel',
  access: { by: 'operator', role: 'operator', reason: true },
  method: 'delete',
  path: '/admin/v1/models/{id}',
  params,
  summary: 'Delete a model',
  description: 'A model of any account, with its bytes. One that is shared is not deleted: stop sharing it first.',
  answers: { 204: { description: 'The model is deleted.' } },
  errors: ['model_in_use'],
});
