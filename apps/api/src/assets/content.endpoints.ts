import { ErrorEnvelopeSchema } from '@millrace/contracts';
import { defineEndpoint, signedQuery, uncheckedPathText, type Answer, type AnswerHeader } from '../endpoints';
import { assetParams } from './assets.endpoints';

const string = { type: 'string' };
const RANGE = {
  name: 'Range',
  in: 'header',
  required: false,
  description: 'One range of bytes, e.g. `bytes=0-1023`. Several ranges at once get the whole file.',
  schema: string,
} as const;
const ETAG: AnswerHeader = { description: 'Names the bytes; they never change.', required: true, schema: string };
const CONTENT_RANGE: AnswerHeader = {
  description: 'Which bytes these are, of how many.',
  required: true,
  schema: string,
};
const LOCATION: AnswerHeader = {
  description: 'Where the bytes are: absolute, and valid for a short time.',
  required: true,
  schema: { type: 'string', format: 'uri' },
};
const BYTES = { '*/*': { type: 'string', format: 'binary' } };

const answers: Record<200 | 206 | 302 | 304 | 416, Answer> = {
  200: {
    description: 'The bytes.',
    content: BYTES,
    headers: { ETag: ETAG, 'Accept-Ranges': { description: '`bytes`', schema: string } },
  },
  206: {
    description: 'The part that was asked for.',
    content: BYTES,
    headers: { ETag: ETAG, 'Content-Range': CONTENT_RANGE },
  },
  302: { description: 'The bytes are elsewhere.', headers: { Location: LOCATION } },
  304: { description: 'The client has these bytes.', headers: { ETag: ETAG } },
  416: {
    description: '`invalid_request`: The range begins beyond the end of the file, whose size `Content-Range` has.',
    schema: ErrorEnvelopeSchema,
    headers: { 'Content-Range': CONTENT_RANGE },
  },
};

export const getAssetContent = defineEndpoint({
  id: 'getAssetContent',
  method: 'get',
  path: '/api/v2/assets/{id}/content',
  params: assetParams,
  tag: 'assets',
  access: { by: 'surface', scope: 'assets:read' },
  summary: 'Read the bytes of an asset',
  description: 'A self-hosted surface sends the bytes; cloud and deployments redirect to a signed link.',
  parameters: [RANGE],
  answers,
  raw: true,
  errors: ['content_lost'],
});

export const getSignedContent = defineEndpoint({
  id: 'getSignedContent',
  method: 'get',
  path: '/content/{id}',
  withoutPrefix: true,
  // The signature covers the id as it was sent.
  params: { id: uncheckedPathText(assetParams.id) },
  tag: 'assets',
  access: { by: 'signed_link' },
  summary: 'Read bytes by a signed link',
  description: 'The target of the links of assets and outputs. Follow them; do not build them.',
  parameters: [...signedQuery('asset', 'key'), RANGE],
  answers,
  raw: true,
  errors: ['forbidden', 'content_lost'],
});
