import { defineEndpoint, recordId } from '../endpoints';
import { ModelImportSchema, ModelPageSchema, ModelQuery, ModelSchema, ModelUploadSchema } from './model.schemas';

const reads = { tag: 'models', access: { by: 'api_key', scope: 'assets:read' } } as const;
const writes = { tag: 'models', access: { by: 'api_key', scope: 'assets:write' } } as const;
const params = { id: recordId('model') };

export const listModels = defineEndpoint({
  ...reads,
  id: 'listModels',
  method: 'get',
  path: '/platform/v1/models',
  query: ModelQuery,
  summary: 'List models',
  description: 'The models of the account, and those that every account may use, newest first.',
  answers: { 200: { description: 'A page of models.', schema: ModelPageSchema } },
  errors: ['invalid_cursor'],
});

export const uploadModel = defineEndpoint({
  ...writes,
  id: 'uploadModel',
  method: 'post',
  path: '/platform/v1/models',
  creates: '/platform/v1/models/{id}',
  summary: 'Begin the upload of a model',
  description:
    'Takes the name, and answers with `upload`: how to cut the file, and for each part a link to PUT its bytes to, as for ' +
    '[large files](#tag/uploads). Then complete it. Pickles (`.ckpt`, `.pt`, `.pth`, `.bin`) are refused unless the operator of the ' +
    'service allows them.',
  body: ModelUploadSchema,
  example: { folder: 'checkpoints', name: 'sdxl/base.safetensors', size_bytes: 2132696762, licence: 'openrail++' },
  answers: { 201: { description: 'The upload is open.', schema: ModelSchema } },
  errors: ['storage_full', 'payload_too_large', 'model_exists', 'model_limit'],
});

export const importModel = defineEndpoint({
  ...writes,
  id: 'importModel',
  method: 'post',
  path: '/platform/v1/model-imports',
  creates: '/platform/v1/models/{id}',
  summary: 'Import a model',
  description:
    'The service fetches the file in parts, and goes on where it broke off. Read the model to follow it: it is `ready`, or ' +
    '`failed` with its `problem`.',
  body: ModelImportSchema,
  example: {
    folder: 'loras',
    name: 'detail.safetensors',
    url: 'https://models.example.com/detail.safetensors',
    hash: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  },
  answers: { 201: { description: 'The import is recorded.', schema: ModelSchema } },
  errors: ['model_exists', 'model_limit'],
});

export const getModel = defineEndpoint({
  ...reads,
  id: 'getModel',
  method: 'get',
  path: '/platform/v1/models/{id}',
  params,
  summary: 'Read a model',
  description: 'A model of the account, or one that every account may use. While it is uploaded: with its parts.',
  answers: { 200: { description: 'The model.', schema: ModelSchema } },
});

export const completeModel = defineEndpoint({
  ...writes,
  id: 'completeModel',
  method: 'post',
  path: '/platform/v1/models/{id}/complete',
  params,
  summary: 'Complete the upload of a model',
  description:
    'Puts the parts together, hashes the whole and reads its header; for gigabytes that takes some seconds. Completing again ' +
    'answers the same. A file that is damaged, or is not what its name says, is refused: the model has failed then.',
  answers: { 200: { description: 'The model is ready.', schema: ModelSchema } },
  errors: ['upload_incomplete', 'hash_mismatch', 'model_refused'],
});

export const deleteModel = defineEndpoint({
  ...writes,
  id: 'deleteModel',
  method: 'delete',
  path: '/platform/v1/models/{id}',
  params,
  summary: 'Delete a model',
  description:
    'With its bytes, unless another model or a job has the same. An upload or an import that is under way ends.',
  answers: { 204: { description: 'The model is deleted.' } },
  errors: ['model_in_use'],
});
