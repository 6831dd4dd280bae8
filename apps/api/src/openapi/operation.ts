import { z } from 'zod';
import type { Answer, Endpoint } from '../endpoints';
import { errorAnswers } from './error-answers';
import { headerRef } from './headers';
import type { MediaType, Operation, ResponseObject } from './openapi-types';
import { parametersOf } from './parameters';
import { refTo } from './schemas';

/** The operation that an endpoint is. */
export function operationOf(endpoint: Endpoint): Operation {
  const { id, tag, summary, events } = endpoint;
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: descriptionOf(endpoint),
    ...securityOf(endpoint),
    parameters: parametersOf(endpoint),
    ...requestBodyOf(endpoint),
    responses: responsesOf(endpoint),
    ...(events === undefined
      ? {}
      : { 'x-sse-events': mapValues(events, (event) => ({ ...event, schema: refTo(event.schema) })) }),
  };
}

/** Every schema that an operation refers to. */
export function schemasOf({ answers, body, rawBody, events = {} }: Endpoint): z.ZodType[] {
  return [
    ...Object.values(answers).map(({ schema }) => schema),
    body,
    rawBody?.schema,
    ...Object.values(events).map(({ schema }) => schema),
  ].filter((schema) => schema instanceof z.ZodType);
}

/** True when the requests of an endpoint's callers are counted. */
export function isLimited({ access }: Endpoint): boolean {
  return access.by !== 'operator';
}

function descriptionOf({ description, access, readsCustomer }: Endpoint): string {
  const noted = readsCustomer === true ? ' Each reading is in the audit log of the account, once an hour.' : '';
  if (access.by === 'operator') return `${description}\n\nRequires the role \`${access.role}\`.${noted}`;
  if (!('scope' in access)) return description;
  return `${description}\n\nRequires the scope \`${access.scope}\`.`;
}

/** Absent where the security of the whole document applies. */
function securityOf({ access }: Endpoint): Pick<Operation, 'security'> {
  switch (access.by) {
    case 'surface':
    case 'operator':
      return {};
    case 'api_key':
      return { security: [{ bearer: [access.scope] }, { session: [] }] };
    case 'session':
      return { security: [{ session: [] }] };
    case 'signed_link':
    case 'signed_body':
    case 'nothing':
      return { security: [] };
  }
}

function requestBodyOf({ body, rawBody, example }: Endpoint): Pick<Operation, 'requestBody'> {
  const described = rawBody ?? (body === undefined ? undefined : { contentType: 'application/json', schema: body });
  if (described === undefined) return {};
  const { contentType, schema, ...encoding } = described;
  const media = {
    schema: schema instanceof z.ZodType ? refTo(schema) : schema,
    ...encoding,
    ...(example === undefined ? {} : { example }),
  };
  return { requestBody: { required: true, content: { [contentType]: media } } };
}

function responsesOf(endpoint: Endpoint): Record<string, ResponseObject> {
  const responses = {
    ...mapValues(endpoint.answers, (answer) => responseOf(answer, endpoint)),
    ...errorAnswers(endpoint),
  };
  return isLimited(endpoint) ? withRateLimits(responses) : responses;
}

function responseOf({ description, schema, content = {}, headers }: Answer, { events }: Endpoint): ResponseObject {
  const bodies: Record<string, MediaType> = {
    ...(schema === undefined ? {} : { 'application/json': { schema: refTo(schema) } }),
    ...mapValues(content, (other) => ({ schema: other })),
    ...(events === undefined ? {} : { 'text/event-stream': { schema: eventStream(events) } }),
  };
  return {
    description,
    headers: { 'X-Request-Id': headerRef('RequestId'), ...headers },
    ...(Object.keys(bodies).length === 0 ? {} : { content: bodies }),
  };
}

/** JSON Schema can say what is inside a text; the `data` of each frame is one of these. */
function eventStream(events: NonNullable<Endpoint['events']>): MediaType['schema'] {
  return {
    type: 'string',
    description: 'Frames with `event` and `data`; the data of each is JSON.',
    contentSchema: { anyOf: Object.values(events).map(({ schema }) => refTo(schema)) },
  };
}

/** Requests are counted once their caller is known: every later answer says what is left. */
function withRateLimits(responses: Record<string, ResponseObject>): Record<string, ResponseObject> {
  const limits = { 'RateLimit-Policy': headerRef('RateLimitPolicy'), RateLimit: headerRef('RateLimit') };
  return Object.fromEntries(
    Object.entries(responses).map(([status, response]) =>
      status === '401' ? [status, response] : [status, { ...response, headers: { ...response.headers, ...limits } }],
    ),
  );
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
