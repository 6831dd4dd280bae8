import { AssetFromHashRequestSchema, AssetSchema, AssetUploadFormSchema } from '@millrace/contracts';
import { BODY_ERRORS, emptyAnswer, errorsBehindCredential, jsonAnswer, openErrors } from './answers';
import { parameterRef, refTo } from './components';
import type { Header, Operation, Parameter, PathItem, ResponseObject } from './openapi-types';

const assetId = parameterRef('AssetId');
const requestId = parameterRef('RequestId');
const tags = ['assets'];

const postAssets: Operation = {
  operationId: 'postAssets',
  tags,
  summary: 'Upload a file',
  description:
    'One request of `multipart/form-data`, its parts in any order, with or without a length. The bytes are hashed as they ' +
    'arrive and kept once: bytes that the account has already make 200 instead of 201. A dedup hit may let the asset live ' +
    'longer, never shorter. An `Idempotency-Key` is claimed when the upload is complete.',
  parameters: [parameterRef('IdempotencyKey'), requestId],
  requestBody: {
    required: true,
    content: {
      'multipart/form-data': {
        schema: refTo(AssetUploadFormSchema),
        encoding: { tags: { style: 'form', explode: true }, file: { contentType: '*/*' } },
      },
    },
  },
  responses: {
    '201': jsonAnswer('The bytes are new here; the asset was made.', AssetSchema),
    '200': jsonAnswer('The account had these bytes; the asset refers to them.', AssetSchema),
    ...errorsBehindCredential(...BODY_ERRORS, 'idempotency_key_reuse', 'hash_mismatch'),
  },
};

const assetFromHash: Operation = {
  operationId: 'assetFromHash',
  tags,
  summary: 'Make an asset from bytes that are there',
  description:
    'Refers to bytes of the account by their blake3 hash instead of sending them again. Bytes of other accounts are not ' +
    'found, whether they exist or not.',
  parameters: [requestId],
  requestBody: {
    required: true,
    content: { 'application/json': { schema: refTo(AssetFromHashRequestSchema) } },
  },
  responses: {
    '201': jsonAnswer('The asset was made.', AssetSchema),
    '200': jsonAnswer('An identical asset was there.', AssetSchema),
    ...errorsBehindCredential(...BODY_ERRORS, 'blob_not_found'),
  },
};

const hash: Parameter = {
  name: 'hash',
  in: 'path',
  required: true,
  description: '`blake3:` and 64 hexadecimal digits, in either case; the colon may be escaped.',
  schema: { type: 'string' },
};

const headAssetByHash: Operation = {
  operationId: 'headAssetByHash',
  tags,
  summary: 'Ask whether bytes are there',
  description: 'After a 200 the same hash makes an asset for at least an hour.',
  parameters: [hash, requestId],
  responses: {
    '200': emptyAnswer('The account has bytes of this hash.'),
    ...Object.fromEntries(
      Object.entries(errorsBehindCredential('blob_not_found')).map(([status, { description }]) => [
        status,
        emptyAnswer(description),
      ]),
    ),
  },
};

const getAsset: Operation = {
  operationId: 'getAsset',
  tags,
  summary: 'Read an asset',
  description: 'The record, with a fresh link to the bytes.',
  parameters: [assetId, requestId],
  responses: { '200': jsonAnswer('The asset.', AssetSchema), ...errorsBehindCredential('not_found') },
};

const deleteAsset: Operation = {
  operationId: 'deleteAsset',
  tags,
  summary: 'Delete an asset',
  description: 'Deletes the record. Bytes go when no asset refers to them any more.',
  parameters: [assetId, requestId],
  responses: {
    '204': emptyAnswer('It is gone.'),
    ...errorsBehindCredential('not_found', 'asset_in_use'),
  },
};

const string = { type: 'string' };
const RANGE: Parameter = {
  name: 'Range',
  in: 'header',
  required: false,
  description: 'One range of bytes, e.g. `bytes=0-1023`. Several at once are answered with the whole.',
  schema: string,
};
const ETAG: Header = { description: 'Names the bytes; they never change.', required: true, schema: string };
const CONTENT_RANGE: Header = { description: 'Which bytes these are, of how many.', required: true, schema: string };
const LOCATION: Header = {
  description: 'Where the bytes are: absolute, and good for a short time.',
  required: true,
  schema: { type: 'string', format: 'uri' },
};

function bytes(description: string, headers: Record<string, Header>): ResponseObject {
  const content = { '*/*': { schema: { type: 'string', format: 'binary' } } };
  return { ...emptyAnswer(description, { ETag: ETAG, ...headers }), content };
}

const sendsBytes: Record<string, ResponseObject> = {
  '200': bytes('The bytes.', { 'Accept-Ranges': { description: '`bytes`', schema: string } }),
  '206': bytes('The part that was asked for.', { 'Content-Range': CONTENT_RANGE }),
  '304': emptyAnswer('The reader has these bytes.', { ETag: ETAG }),
  '416': emptyAnswer('There is no such part.', { 'Content-Range': CONTENT_RANGE }),
  '302': emptyAnswer('The bytes are elsewhere.', { Location: LOCATION }),
};

const getAssetContent: Operation = {
  operationId: 'getAssetContent',
  tags,
  summary: 'Read the bytes of an asset',
  description: 'A self-hosted surface sends the bytes; cloud and deployments redirect to a signed link.',
  parameters: [assetId, RANGE, requestId],
  responses: { ...sendsBytes, ...errorsBehindCredential('not_found') },
};

const signed = (name: string, description: string): Parameter => ({
  name,
  in: 'query',
  required: true,
  description,
  schema: string,
});

const getSignedContent: Operation = {
  operationId: 'getSignedContent',
  tags,
  summary: 'Read bytes by a signed link',
  description: 'Where the links of assets and outputs lead. Follow them; do not build them.',
  security: [],
  parameters: [
    assetId,
    signed('account', 'Account of the asset.'),
    signed('expires', 'Until when the link works, in seconds since 1970.'),
    signed('key', 'Key that signed it.'),
    signed('signature', 'The signature.'),
    RANGE,
    requestId,
  ],
  responses: { ...sendsBytes, ...openErrors('forbidden', 'not_found') },
};

export const ASSET_PATHS: Record<string, PathItem> = {
  '/api/v2/assets': { post: postAssets },
  '/api/v2/assets/from-hash': { post: assetFromHash },
  '/api/v2/assets/by-hash/{hash}': { head: headAssetByHash },
  '/api/v2/assets/{id}': { get: getAsset, delete: deleteAsset },
  '/api/v2/assets/{id}/content': { get: getAssetContent },
  '/content/{id}': {
    servers: [{ url: '/', description: 'The host of any surface, without its prefix.' }],
    get: getSignedContent,
  },
};

/** Shapes that these operations speak of. */
export const ASSET_SCHEMAS = [AssetSchema, AssetUploadFormSchema, AssetFromHashRequestSchema];
