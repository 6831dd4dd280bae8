import { ErrorEnvelopeSchema } from '@millrace/contracts';
import { emptyAnswer, openErrors, withRateLimits } from './answers';
import { ASSET_PATHS, ASSET_SCHEMAS } from './asset-operations';
import { HEADERS, PARAMETERS, componentsOf } from './components';
import { JOB_PATHS, JOB_SCHEMAS } from './job-operations';
import { UPLOAD_PATHS, UPLOAD_SCHEMAS } from './upload-operations';
import { METHODS, type OpenApiDocument, type PathItem, type Server } from './openapi-types';

const DESCRIPTION = `
Runs node-graph workflows as durable jobs: upload inputs, submit a graph, follow it, fetch what it made.

- **Polling is enough.** The event stream tells the same sooner, and is never the only place where something is told.
- **Follow links.** \`urls\` of a job are relative to the host and include the prefix of the surface: resolve them against
  the origin of the request, never against a base address with a path. Links to bytes are absolute.
- **Every error is an envelope**: \`{error: {code, message, details?}}\`. Decide by \`error.code\`. After a 429 wait as long as
  \`Retry-After\` says, then send the same request, with the same \`Idempotency-Key\`.
- **Changes within v2 are additive.** Ignore fields that you do not know.
- **Requests come from servers.** No CORS headers are sent, so that pages of other origins cannot read an answer: an API key
  in a browser is anybody's.
- **An id for every request.** \`X-Request-Id\` is accepted and echoed.
`.trim();

const DOCUMENT_PATHS: Record<string, PathItem> = {
  '/api/v2/openapi.json': {
    get: {
      operationId: 'getOpenApiDocument',
      tags: ['reference'],
      summary: 'Read this document',
      description: 'Made from the same schemas that check requests.',
      security: [],
      responses: {
        '200': {
          ...emptyAnswer('The document.'),
          content: { 'application/json': { schema: { type: 'object' } } },
        },
        ...openErrors(),
      },
    },
  },
  '/api/v2/reference': {
    get: {
      operationId: 'getReference',
      tags: ['reference'],
      summary: 'Browse this document',
      description: 'A page without scripts and without anything from elsewhere.',
      security: [],
      responses: {
        '200': { ...emptyAnswer('The page.'), content: { 'text/html': { schema: { type: 'string' } } } },
        ...openErrors(),
      },
    },
  },
};

/** Where the surfaces are (contract, section 1). */
const SERVERS: Server[] = [
  {
    url: '{origin}',
    description: 'A self-hosted surface, the cloud surface, or a deployment that has the host to itself.',
    variables: { origin: { default: 'http://localhost:8080', description: 'Scheme and host, without a path.' } },
  },
  {
    url: '{origin}/deployment/{deployment_id}',
    description: 'A deployment under its prefix.',
    variables: {
      origin: { default: 'http://localhost:8080', description: 'Scheme and host, without a path.' },
      deployment_id: { default: '00000000-0000-0000-0000-000000000000', description: 'Id of the deployment.' },
    },
  },
];

/** Whatever asks for a credential counts requests. */
function limitedPaths(paths: Record<string, PathItem>): Record<string, PathItem> {
  const entries = Object.entries(paths).map(([path, item]): [string, PathItem] => {
    const limited = METHODS.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const isOpen = operation.security?.length === 0;
      return [[method, isOpen ? operation : withRateLimits(operation)]];
    });
    return [path, { ...item, ...(Object.fromEntries(limited) as PathItem) }];
  });
  return Object.fromEntries(entries);
}

/** The whole public API as an OpenAPI document. The same every time: docs/openapi.json is compared with it. */
export function describeApi(): OpenApiDocument {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Millrace API',
      version: '2.0.0',
      summary: 'Node-graph workflows as durable jobs.',
      description: DESCRIPTION,
    },
    servers: SERVERS,
    // A self-hosted surface is open unless it has a token; a public demo deployment asks for none.
    security: [{ bearer: [] }, {}],
    tags: [
      { name: 'jobs', description: 'One execution of a workflow: durable, pollable, cancelable.' },
      { name: 'assets', description: 'Records over immutable bytes, which are known by their hash.' },
      {
        name: 'uploads',
        description: 'Large files, sent in parts that can be sent again. Smaller ones need one request.',
      },
      { name: 'reference', description: 'This document.' },
    ],
    paths: { ...limitedPaths({ ...JOB_PATHS, ...ASSET_PATHS, ...UPLOAD_PATHS }), ...DOCUMENT_PATHS },
    components: {
      schemas: componentsOf([ErrorEnvelopeSchema, ...JOB_SCHEMAS, ...ASSET_SCHEMAS, ...UPLOAD_SCHEMAS]),
      parameters: PARAMETERS,
      headers: HEADERS,
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key of the account; on a self-hosted surface its one token, if it has one.',
        },
      },
    },
  };
}
