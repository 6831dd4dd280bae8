import { AssetFromHashRequestSchema, AssetPageSchema, AssetSchema, AssetUploadFormSchema } from '@millrace/contracts';
import { defineEndpoint, recordId, uncheckedPathText } from '../endpoints';
import { assetQuery } from './asset-query';

const tag = 'assets';
const reads = { tag, access: { by: 'surface', scope: 'assets:read' } } as const;
const writes = { tag, access: { by: 'surface', scope: 'assets:write' } } as const;
export const assetParams = { id: recordId('asset', 'AssetId') };

export const postAssets = defineEndpoint({
  ...writes,
  id: 'postAssets',
  method: 'post',
  path: '/api/v2/assets',
  creates: '/api/v2/assets/{id}',
  summary: 'Upload a file',
  description:
    'One request of `multipart/form-data`, its parts in any order, with or without a length. The bytes are hashed as they ' +
    'arrive and stored once: 200 instead of 201 means that the account had them already. Uploading the same bytes again may ' +
    'extend the life of the asset, never shorten it. An `Idempotency-Key` is claimed when the upload is complete.',
  idempotencyKey: 'refuses-repeats',
  rawBody: {
    contentType: 'multipart/form-data',
    schema: AssetUploadFormSchema,
    encoding: { tags: { style: 'form', explode: true }, file: { contentType: '*/*' } },
  },
  answers: {
    201: { description: 'The bytes are new here; the asset was created.', schema: AssetSchema },
    200: { description: 'The account had these bytes; the asset refers to them.', schema: AssetSchema },
  },
  errors: [
    'invalid_field',
    'payload_too_large',
    'storage_full',
    'unsupported_media_type',
    'late_body',
    'idempotency_key_reuse',
    'hash_mismatch',
  ],
});

export const listAssets = defineEndpoint({
  ...reads,
  id: 'listAssets',
  method: 'get',
  path: '/api/v2/assets',
  summary: 'List assets',
  description:
    'The assets of the account on all surfaces, newest first: what it uploaded, or with `kind=output` what its jobs made. ' +
    'Expired ones are not shown. Follow `next_cursor` until it is absent. A page shows what it finds among a thousand assets, so it has fewer than ' +
    '`limit`, or none, where few of them match.',
  query: assetQuery,
  answers: { 200: { description: 'A page of assets.', schema: AssetPageSchema } },
  errors: ['invalid_cursor'],
});

export const assetFromHash = defineEndpoint({
  ...writes,
  id: 'assetFromHash',
  method: 'post',
  path: '/api/v2/assets/from-hash',
  creates: '/api/v2/assets/{id}',
  summary: 'Create an asset from stored bytes',
  description:
    'Refers to bytes of the account by their blake3 hash instead of sending them again. Bytes of other accounts are not ' +
    'found, whether they exist or not.',
  rawBody: { contentType: 'application/json', schema: AssetFromHashRequestSchema },
  answers: {
    201: { description: 'The asset was created.', schema: AssetSchema },
    200: { description: 'An identical asset existed.', schema: AssetSchema },
  },
  errors: ['invalid_field', 'payload_too_large', 'unsupported_media_type', 'late_body', 'blob_not_found'],
});

export const headAssetByHash = defineEndpoint({
  ...reads,
  id: 'headAssetByHash',
  method: 'head',
  path: '/api/v2/assets/by-hash/{hash}',
  params: {
    hash: uncheckedPathText({
      description: '`blake3:` and 64 hexadecimal digits, in either case; the colon may be escaped.',
      schema: { type: 'string' },
    }),
  },
  summary: 'Check whether bytes are stored',
  description:
    'After a 200 an asset can be created from this hash for at least an hour. For a sub-key it is 200 where an asset of its own over these bytes does not expire within that time, and holds unless these are deleted. After a 404, upload the bytes.',
  answers: { 200: { description: 'The account has bytes of this hash.' } },
  errors: ['blob_not_found'],
});

export const getAsset = defineEndpoint({
  ...reads,
  id: 'getAsset',
  method: 'get',
  path: '/api/v2/assets/{id}',
  params: assetParams,
  summary: 'Read an asset',
  description: 'The record, with a fresh link to the bytes.',
  answers: { 200: { description: 'The asset.', schema: AssetSchema } },
});

export const deleteAsset = defineEndpoint({
  ...writes,
  id: 'deleteAsset',
  method: 'delete',
  path: '/api/v2/assets/{id}',
  params: assetParams,
  summary: 'Delete an asset',
  description: 'Deletes the record. The bytes are deleted when no asset refers to them any more.',
  answers: { 204: { description: 'It is deleted.' } },
  errors: ['asset_in_use'],
});
