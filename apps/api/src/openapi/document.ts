import { ErrorEnvelopeSchema } from '@millrace/contracts';
import type { Endpoint, SessionCookie } from '../endpoints';
import { HEADERS } from './headers';
import { withLinks } from './links';
import type { OpenApiDocument, PathItem, SecurityRequirement, Server } from './openapi-types';
import { isLimited, operationOf, schemasOf } from './operation';
import { sharedParameters } from './parameters';
import { componentsOf } from './schemas';

/** What a document says besides its endpoints. */
export interface DocumentFrame {
  title: string;
  version: string;
  summary: string;
  description: string;
  tags: { name: string; description: string }[];
  servers: Server[];
  security: SecurityRequirement[];
  /** What the bearer credential is. */
  credential: string;
  /** Set where a session of the console is a credential, too: what it is. */
  session?: { cookie: SessionCookie; description: string };
  /** The paths of its endpoints begin with one of these. */
  paths: string[];
}

/** The document of an API: those of the endpoints that belong to it, in their order. The same every time. */
export function describeEndpoints(frame: DocumentFrame, served: readonly Endpoint[]): OpenApiDocument {
  const endpoints = served.filter(({ path }) => frame.paths.some((prefix) => path.startsWith(prefix)));
  return {
    openapi: '3.1.0',
    info: { title: frame.title, version: frame.version, summary: frame.summary, description: frame.description },
    servers: frame.servers,
    security: frame.security,
    tags: [...frame.tags, { name: 'reference', description: 'This document.' }],
    paths: pathsOf(endpoints),
    components: {
      schemas: componentsOf([ErrorEnvelopeSchema, ...endpoints.flatMap(schemasOf)]),
      parameters: sharedParameters(endpoints),
      headers: endpoints.some(isLimited) ? HEADERS : { RequestId: HEADERS.RequestId, RetryAfter: HEADERS.RetryAfter },
      securitySchemes: securitySchemesOf(frame),
    },
  };
}

function securitySchemesOf({ credential, session }: DocumentFrame): OpenApiDocument['components']['securitySchemes'] {
  const bearer = { type: 'http', scheme: 'bearer', description: credential };
  if (session === undefined) return { bearer };
  return {
    bearer,
    session: { type: 'apiKey', in: 'cookie', name: session.cookie.name, description: session.description },
  };
}

const ANY_SURFACE: Server[] = [{ url: '/', description: 'The host of any surface, without its prefix.' }];

function pathsOf(endpoints: readonly Endpoint[]): Record<string, PathItem> {
  const paths: Record<string, PathItem> = {};
  for (const endpoint of endpoints) {
    const item = (paths[endpoint.path] ??= endpoint.withoutPrefix ? { servers: ANY_SURFACE } : {});
    item[endpoint.method] = withLinks(operationOf(endpoint), endpoint, endpoints);
  }
  return paths;
}
