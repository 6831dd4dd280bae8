import { defineEndpoint } from '../endpoints';

const common = { method: 'get', tag: 'reference', access: { by: 'nothing' } } as const;
const document = {
  ...common,
  id: 'getOpenApiDocument',
  summary: 'Read this document',
  description: 'Made from the same definitions that check requests.',
  answers: { 200: { description: 'The document.', content: { 'application/json': { type: 'object' } } } },
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
  answers: { 200: { description: 'The page.', content: { 'text/html': { type: 'string' } } } },
});
