import { z } from 'zod';
import { ErrorEnvelopeSchema } from '@millrace/contracts';
import { endpointsOf, type Endpoint } from '../endpoints/endpoint';
import {
  BODY_ERRORS,
  emptyAnswer,
  errorsBehindCredential,
  jsonAnswer,
  openErrors,
  withRateLimits,
  type ErrorName,
} from './answers';
import { HEADERS, PARAMETERS, componentsOf, parameterRef, refTo } from './components';
import type {
  JsonSchema,
  MediaType,
  OpenApiDocument,
  Operation,
  Parameter,
  PathItem,
  ResponseObject,
  Server,
} from './openapi-types';

/** What a document says besides its endpoints. */
export interface DocumentFrame {
  title: string;
  summary: string;
  description: string;
  tags: { name: string; description: string }[];
  servers: Server[];
  /** What the bearer credential is. */
  credential: string;
  /** Where the document itself is served, e.g. `/platform/v1/openapi.json`. */
  path: string;
}

/** The document of an API that is made of endpoints: whatever its controllers serve, and nothing else. */
export function describeEndpoints(frame: DocumentFrame, controllers: readonly object[]): OpenApiDocument {
  const endpoints = controllers.flatMap(endpointsOf);
  return {
    openapi: '3.1.0',
    info: { title: frame.title, version: '1.0.0', summary: frame.summary, description: frame.description },
    servers: frame.servers,
    security: [{ bearer: [] }],
    tags: [...frame.tags, { name: 'reference', description: 'This document.' }],
    paths: { ...pathsOf(endpoints), [frame.path]: { get: itself } },
    components: {
      schemas: componentsOf([ErrorEnvelopeSchema, ...endpoints.flatMap(schemasOf)]),
      parameters: { RequestId: PARAMETERS.RequestId },
      headers: isLimited(endpoints) ? HEADERS : { RequestId: HEADERS.RequestId, RetryAfter: HEADERS.RetryAfter },
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: frame.credential } },
    },
  };
}

const itself: Operation = {
  operationId: 'getOpenApiDocument',
  tags: ['reference'],
  summary: 'Read this document',
  description: 'Made from the same schemas that check requests.',
  security: [],
  responses: {
    '200': { ...emptyAnswer('The document.'), content: { 'application/json': { schema: { type: 'object' } } } },
    ...openErrors(),
  },
};

function pathsOf(endpoints: Endpoint[]): Record<string, PathItem> {
  const paths: Record<string, PathItem> = {};
  for (const endpoint of endpoints) {
    const operation = operationOf(endpoint);
    (paths[endpoint.path] ??= {})[endpoint.method] =
      endpoint.scope === undefined ? operation : withRateLimits(operation);
  }
  return paths;
}

/** The admin API has one caller, who is not limited. */
function isLimited(endpoints: Endpoint[]): boolean {
  return endpoints.some(({ scope }) => scope !== undefined);
}

function schemasOf({ answer, body }: Endpoint): z.ZodType[] {
  return [answer.schema, body].filter((schema) => schema !== undefined);
}

function operationOf(endpoint: Endpoint): Operation {
  const { id, tag, summary, description, scope, proof, body, answer, errors = [] } = endpoint;
  const parameters = [...pathParameters(endpoint), ...queryParameters(endpoint)];
  const errorsOf = proof === undefined ? errorsBehindCredential : openErrors;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: [description, scope === undefined ? proof : `Needs the scope \`${scope}\`.`]
      .filter(Boolean)
      .join('\n\n'),
    ...securityOf(endpoint),
    parameters: [...parameters, parameterRef('RequestId')],
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: refTo(body) } } } }),
    responses: {
      [answer.status]: answerOf(endpoint),
      ...errorsOf(...new Set([...impliedErrors(endpoint), ...errors])),
    },
  };
}

/** Absent where the whole document's holds. */
function securityOf({ scope, proof }: Endpoint): Pick<Operation, 'security'> {
  if (proof !== undefined) return { security: [] };
  return scope === undefined ? {} : { security: [{ bearer: [scope] }] };
}

/** What follows from the shape of an endpoint. */
function impliedErrors({ path, body }: Endpoint): ErrorName[] {
  const ofPath: ErrorName[] = path.includes('{') ? ['not_found'] : [];
  const ofBody = body === undefined ? [] : BODY_ERRORS;
  return [...ofPath, ...ofBody];
}

function answerOf({ answer }: Endpoint): ResponseObject {
  if (answer.schema === undefined) return emptyAnswer(answer.description);
  const response = jsonAnswer(answer.description, answer.schema);
  const content: Record<string, MediaType> = { ...response.content };
  for (const [type, description] of Object.entries(answer.alternatives ?? {})) {
    content[type] = { schema: { type: 'string', description } };
  }
  return { ...response, content };
}

function pathParameters({ path, patterns = {} }: Endpoint): Parameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const special = patterns[name];
    const schema: JsonSchema =
      special === undefined ? { type: 'string', format: 'uuid' } : { type: 'string', pattern: special.pattern.source };
    return { name, in: 'path', required: true, description: special?.description ?? 'Id of the record.', schema };
  });
}

/** Each property of the query's schema is a parameter. */
function queryParameters({ id, query }: Endpoint): Parameter[] {
  if (query === undefined) return [];
  if (!(query instanceof z.ZodObject)) throw new Error(`the query of ${id} is not described by an object`);
  const properties: Record<string, z.ZodType> = query.shape;
  return Object.entries(properties).map(([name, field]) => {
    const { $schema: _, description, ...schema } = z.toJSONSchema(field, { io: 'input' }) as JsonSchema;
    if (typeof description !== 'string') throw new Error(`the parameter ${name} of ${id} has no description`);
    return { name, in: 'query', required: !field.isOptional(), description, schema };
  });
}
