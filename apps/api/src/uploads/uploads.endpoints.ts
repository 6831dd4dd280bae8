import { AssetSchema, ResumableUploadRequestSchema, ResumableUploadSchema } from '@millrace/contracts';
import { defineEndpoint, recordId, signedQuery, uncheckedPathText } from '../endpoints';

const common = { tag: 'uploads', access: { by: 'surface', scope: 'assets:write' } } as const;
const id = recordId('upload');

export const beginUpload = defineEndpoint({
  ...common,
  id: 'beginUpload',
  method: 'post',
  path: '/api/v2/uploads',
  creates: '/api/v2/uploads/{id}',
  summary: 'Begin an upload in parts',
  description:
    'The answer says how to cut the file, and has for each part a link to PUT its bytes to: no credential, no form, the ' +
    'length as `Content-Length`. Send parts in any order, several at once, and again where one broke off. The links may lead ' +
    'to the object store itself. An upload that is not completed by `expires_at` is dropped.',
  rawBody: { contentType: 'application/json', schema: ResumableUploadRequestSchema },
  example: { size_bytes: 734003200, content_type: 'video/mp4', file_path: 'film.mp4' },
  answers: { 201: { description: 'The upload is open.', schema: ResumableUploadSchema } },
  errors: ['invalid_field', 'payload_too_large', 'unsupported_media_type', 'late_body', 'storage_full'],
});

export const getUpload = defineEndpoint({
  ...common,
  id: 'getUpload',
  method: 'get',
  path: '/api/v2/uploads/{id}',
  params: { id },
  summary: 'Read an upload',
  description:
    'Which parts have arrived, and fresh links for those that have not: all that is needed to resume. Before you go on with a ' +
    'file, compare its hash with `expected_hash`.',
  answers: { 200: { description: 'The upload.', schema: ResumableUploadSchema } },
});

export const completeUpload = defineEndpoint({
  ...common,
  id: 'completeUpload',
  method: 'post',
  path: '/api/v2/uploads/{id}/complete',
  creates: '/api/v2/assets/{id}',
  params: { id },
  summary: 'Complete an upload',
  description:
    'Puts the parts together, hashes the whole, and creates the asset; for gigabytes that takes some seconds. Completing ' +
    'again returns the same asset, also after an answer that was lost. Bytes that do not have the announced hash end the ' +
    'upload; after any other error it can be completed again.',
  answers: {
    201: { description: 'The bytes are new here; the asset was created.', schema: AssetSchema },
    200: { description: 'The account had these bytes, or the upload was complete.', schema: AssetSchema },
  },
  errors: ['upload_incomplete', 'hash_mismatch'],
});

export const abortUpload = defineEndpoint({
  ...common,
  id: 'abortUpload',
  method: 'delete',
  path: '/api/v2/uploads/{id}',
  params: { id },
  summary: 'Drop an upload',
  description: 'Drops the parts that have arrived. An asset that the upload created stays.',
  answers: { 204: { description: 'It is dropped.' } },
  errors: ['upload_incomplete'],
});

export const putUploadPart = defineEndpoint({
  id: 'putUploadPart',
  method: 'put',
  path: '/upload-parts/{id}/{number}',
  withoutPrefix: true,
  // The signature covers the path as it was sent.
  params: {
    id: uncheckedPathText(id),
    number: uncheckedPathText({
      description: 'Number of the part, from 1.',
      schema: { type: 'integer', minimum: 1 },
    }),
  },
  tag: 'uploads',
  access: { by: 'signed_link' },
  summary: 'Send a part',
  description:
    'The target of the links of an upload when its bytes are kept by this service. Follow them; do not build them.',
  parameters: signedQuery('upload'),
  rawBody: { contentType: 'application/octet-stream', schema: { type: 'string', format: 'binary' } },
  answers: { 204: { description: 'The part has arrived.' } },
  errors: ['invalid_field', 'late_body', 'unsupported_media_type', 'forbidden'],
});
