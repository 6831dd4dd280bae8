import { HttpCode, Req, RequestMapping, RequestMethod, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { z } from 'zod';
import { Refusal, isUuid, type Scope } from '@millrace/contracts';
import type { ErrorName } from '../openapi/answers';
import { parseFields, readJson } from '../http/body';

/** What an endpoint answers when all goes well. */
export interface EndpointAnswer {
  status: 200 | 201 | 204;
  description: string;
  /** Shape of the JSON body; absent where there is none. */
  schema?: z.ZodType;
  /** Other content types that may be asked for with Accept, described in a sentence each. */
  alternatives?: Record<string, string>;
}

/**
 * All there is to say of one operation of the platform or the admin API, said once: what is routed, who may call it, what is
 * read and checked, and what the OpenAPI document tells.
 *
 * Jobs, assets and uploads are not endpoints: half of their operations answer with bytes, redirects, streams or one of two
 * statuses, take forms or a graph's own text, or find out by the surface who calls. They are described in
 * `openapi/*-operations.ts`, which a test holds to the routes.
 */
export interface Endpoint<Path extends string = string, Query = unknown, Body = unknown> {
  /** Operation id, e.g. `listApiKeys`. */
  id: string;
  method: 'get' | 'post' | 'patch' | 'delete';
  /**
   * Whole path in the document's form, e.g. `/platform/v1/api-keys/{id}`. A parameter is the id of a record, a UUID, unless
   * `patterns` says what else it is.
   */
  path: Path;
  patterns?: Record<string, { pattern: RegExp; description: string }>;
  tag: string;
  summary: string;
  description: string;
  /** What the caller's key must be allowed; absent on the admin API, where the one token may do everything. */
  scope?: Scope;
  /** Set where no credential is asked for: says what else proves who calls. */
  proof?: string;
  query?: z.ZodType<Query>;
  body?: z.ZodType<Body>;
  answer: EndpointAnswer;
  /** Errors beyond those that every endpoint has. */
  errors?: ErrorName[];
}

type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? { [K in Name]: string } & ParamsOf<Rest>
  : unknown;

/** What a handler gets: the request as it was checked, and both ends of the connection. */
export interface EndpointInput<Path extends string, Query, Body> {
  params: ParamsOf<Path>;
  query: Query;
  body: Body;
  request: Request;
  response: Response;
}

/** What a handler of this endpoint gets. */
export type InputOf<E> =
  E extends Endpoint<infer Path, infer Query, infer Body> ? EndpointInput<Path, Query, Body> : never;

/** Lets callers in, or not, and tells the handler who they are. */
export interface Door<Who> {
  /** @throws Refusal when this caller may not use this endpoint. */
  admit(request: Request, endpoint: Endpoint): Promise<Who>;
}

/** Say what an endpoint is; the schemas' types reach the handler. */
export function defineEndpoint<const Path extends string, Query = unknown, Body = unknown>(
  endpoint: Endpoint<Path, Query, Body>,
): Endpoint<Path, Query, Body> {
  return endpoint;
}

const METHODS = {
  get: RequestMethod.GET,
  post: RequestMethod.POST,
  patch: RequestMethod.PATCH,
  delete: RequestMethod.DELETE,
} as const;

const endpoints = new WeakMap<object, Endpoint[]>();

/** The endpoints that a controller class serves. */
export function endpointsOf(controller: object): Endpoint[] {
  return endpoints.get(controller) ?? [];
}

/**
 * Make a method serve an endpoint. The method runs only for callers that the controller's door admits, with input that fits
 * the endpoint's schemas; what it returns is the JSON of the answer.
 */
export function Serves<Path extends string, Query, Body>(endpoint: Endpoint<Path, Query, Body>) {
  return <Who extends object, Answer>(
    controller: { readonly door: Door<Who> },
    name: string,
    descriptor: TypedPropertyDescriptor<(input: Who & EndpointInput<Path, Query, Body>) => Promise<Answer>>,
  ): void => {
    const handler = descriptor.value;
    if (handler === undefined) throw new Error(`${name} cannot serve ${endpoint.id}: it is no method`);
    const serve = async function (this: typeof controller, request: Request, response: Response): Promise<unknown> {
      const who = await this.door.admit(request, endpoint);
      const input = await readInput(endpoint, request);
      return handler.call(this, { ...who, ...input, request, response });
    };
    Object.assign(descriptor, { value: serve });
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1');
    RequestMapping({ path, method: METHODS[endpoint.method] })(controller, name, descriptor);
    HttpCode(endpoint.answer.status)(controller, name, descriptor);
    Req()(controller, name, 0);
    Res({ passthrough: true })(controller, name, 1);
    endpoints.set(controller.constructor, [...endpointsOf(controller.constructor), endpoint]);
  };
}

const nothing = z.unknown();

async function readInput<Path extends string, Query, Body>(
  endpoint: Endpoint<Path, Query, Body>,
  request: Request,
): Promise<Pick<EndpointInput<Path, Query, Body>, 'params' | 'query' | 'body'>> {
  const params = paramsOf(request, endpoint.patterns ?? {}) as ParamsOf<Path>;
  const query = parseFields((endpoint.query ?? nothing) as z.ZodType<Query>, request.query, 400);
  // A body of which every field has a default need not be sent.
  const body = endpoint.body === undefined ? undefined : await readJson(request, endpoint.body, '{}');
  return { params, query, body: body as Body };
}

/** What is no id names no record: that is not found, not malformed. */
function paramsOf(request: Request, patterns: NonNullable<Endpoint['patterns']>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(request.params).map(([name, value]) => {
      const special = patterns[name];
      if (special !== undefined && typeof value === 'string' && special.pattern.test(value)) return [name, value];
      if (special !== undefined) throw new Refusal('not_found', `There is nothing at ${request.path.slice(0, 80)}.`);
      if (typeof value !== 'string' || !isUuid(value)) {
        throw new Refusal('not_found', `There is no record ${String(value).slice(0, 80)}; ids are UUIDs.`);
      }
      return [name, value.toLowerCase()];
    }),
  );
}
