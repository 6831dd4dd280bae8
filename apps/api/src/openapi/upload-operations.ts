import { AssetSchema, ResumableUploadRequestSchema, ResumableUploadSchema } from '@millrace/contracts';
import { BODY_ERRORS, emptyAnswer, errorsBehindCredential, jsonAnswer, openErrors } from './answers';
import { parameterRef, refTo } from './components';
import type { Operation, Parameter, PathItem } from './openapi-types';

const requestId = parameterRef('RequestId');
const tags = ['uploads'];
const uploadId: Parameter = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'Id of the upload.',
  schema: { type: 'string', format: 'uuid' },
};

const beginUpload: Operation = {
  operationId: 'beginUpload',
  tags,
  summary: 'Begin an upload in parts',
  description:
    'Tells how the file is cut, and for each part a link to PUT its bytes to: no credential, no form, the length as ' +
    '`Content-Length`. Send parts in any order, several at once, and again where one broke off. The links may lead to the ' +
    'object store itself. What was not completed by `expires_at` is dropped.',
  parameters: [requestId],
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: refTo(ResumableUploadRequestSchema),
        example: { size_bytes: 734003200, content_type: 'video/mp4', file_path: 'film.mp4' },
      },
    },
  },
  responses: {
    '201': jsonAnswer('The upload is open.', ResumableUploadSchema),
    ...errorsBehindCredential(...BODY_ERRORS),
  },
};

const getUpload: Operation = {
  operationId: 'getUpload',
  tags,
  summary: 'Read an upload',
  description: 'Which parts have arrived, and fresh links for those that have not: all that is needed to resume.',
  parameters: [uploadId, requestId],
  responses: {
    '200': jsonAnswer('The upload.', ResumableUploadSchema),
    ...errorsBehindCredential('not_found'),
  },
};

const completeUpload: Operation = {
  operationId: 'completeUpload',
  tags,
  summary: 'Complete an upload',
  description:
    'Puts the parts together, hashes the whole, and makes the asset; for gigabytes that takes some seconds. Completing ' +
    'again tells of the same asset. When the bytes are refused, the upload is over.',
  parameters: [uploadId, requestId],
  responses: {
    '201': jsonAnswer('The bytes are new here; the asset was made.', AssetSchema),
    '200': jsonAnswer('The account had these bytes, or the upload was complete.', AssetSchema),
    ...errorsBehindCredential('not_found', 'upload_incomplete', 'hash_mismatch'),
  },
};

const abortUpload: Operation = {
  operationId: 'abortUpload',
  tags,
  summary: 'Drop an upload',
  description: 'Drops the parts that have arrived. An asset that came of the upload stays.',
  parameters: [uploadId, requestId],
  responses: { '204': emptyAnswer('It is gone.'), ...errorsBehindCredential('not_found', 'upload_incomplete') },
};

const signed = (name: string, description: string): Parameter => ({
  name,
  in: 'query',
  required: true,
  description,
  schema: { type: 'string' },
});

const putUploadPart: Operation = {
  operationId: 'putUploadPart',
  tags,
  summary: 'Send a part',
  description:
    'Where the links of an upload lead when its bytes are kept by this service. Follow them; do not build them.',
  security: [],
  parameters: [
    uploadId,
    {
      name: 'number',
      in: 'path',
      required: true,
      description: 'Number of the part, from 1.',
      schema: { type: 'integer', minimum: 1 },
    },
    signed('account', 'Account of the upload.'),
    signed('expires', 'Until when the link works, in seconds since 1970.'),
    signed('signature', 'The signature.'),
    requestId,
  ],
  requestBody: {
    required: true,
    content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
  },
  responses: {
    '204': emptyAnswer('The part has arrived.'),
    ...openErrors('invalid_field', 'late_body', 'forbidden', 'not_found'),
  },
};

export const UPLOAD_PATHS: Record<string, PathItem> = {
  '/api/v2/uploads': { post: beginUpload },
  '/api/v2/uploads/{id}': { get: getUpload, delete: abortUpload },
  '/api/v2/uploads/{id}/complete': { post: completeUpload },
  '/upload-parts/{id}/{number}': {
    servers: [{ url: '/', description: 'The host of any surface, without its prefix.' }],
    put: putUploadPart,
  },
};

/** Shapes that these operations speak of. */
export const UPLOAD_SCHEMAS = [ResumableUploadRequestSchema, ResumableUploadSchema];
