import { defineEndpoint } from '../endpoints';

const common = { method: 'get', tag: 'reference', access: { by: 'nothing' }, raw: true } as const;
const ETAG = { description: 'Names this version of the text.', required: true, schema: { type: 'string' } } as const;
const UNCHANGED = {
  description: 'The client has this version: it sent its `ETag` as `If-None-Match`.',
  headers: { ETag: ETAG },
};
const document = {
  ...common,
  id: 'getOpenApiDocument',
  summary: 'Read this document',
  description: 'Made from the same definitions that check requests.',
  answers: {
    200: { description: 'The document.', content: { 'application/json': { type: 'object' } }, headers: { ETag: ETAG } },
    304: UNCHANGED,
  },
} as const;

export const getApiDocument = defineEndpoint({ ...document, path: '/api/v2/openapi.json' });
export const getPlatformDocument = defineEndpoint({ ...document, path: '/platform/v1/openapi.json' });
export const getAdminDocument = defineEndpoint({ ...document, path: '/admin/v1/openapi.json' });

export const getReference = defineEndpoint({
  ...common,
  id: 'getReference',
  path: '/api/v2/reference',
  summary: 'Browse this document',
  description: 'A page without scripts and without anything from elsewhere.',
  answers: {
    200: { description: 'The page.', content: { 'text/html': { type: 'string' } }, headers: { ETag: ETAG } },
    304: UNCHANGED,
  },
});
