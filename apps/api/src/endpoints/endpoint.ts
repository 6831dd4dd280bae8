import type { Request, Response } from 'express';
import type { z } from 'zod';
import type { ErrorCode } from '@millrace/contracts';
import type { Access } from './access';
import type { Answer, DescribedBody, DescribedEvent, DescribedParameter } from './described';
import type { ParamsOf, PathParameter } from './path-parameters';
import type { Admitted } from './visitor';

export const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete'] as const;
export type Method = (typeof METHODS)[number];

/** What an account may ask for less often than requests (`request-limits.ts`). */
export type QuotaName = 'estimates' | 'sends';

/** As what a request counts against the limit of its account: ten times as many polls are let through (`request-limits.ts`). */
export type CountedAs = 'requests' | 'polls';

/** An error of an endpoint; `invalid_request` comes with three meanings. */
export type ErrorName = Exclude<ErrorCode, 'invalid_request'> | 'unreadable_request' | 'invalid_field' | 'late_body';

/**
 * All there is to say of one operation, said once. From it follow the route, who is let in, what is read and checked, the
 * operation in the OpenAPI document, and the place in the isolation tests.
 */
export interface Endpoint {
  /** Operation id, e.g. `listApiKeys`. */
  readonly id: string;
  readonly method: Method;
  /** Whole path in the document's form, e.g. `/platform/v1/api-keys/{id}`. */
  readonly path: `/${string}`;
  /** What each parameter of the path is. */
  readonly params?: Readonly<Record<string, PathParameter>>;
  /** Set for a path that is the same on every surface, without the surface's prefix. */
  readonly withoutPrefix?: true;
  readonly access: Access;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  /** Each property is a parameter, read from text. */
  readonly query?: z.ZodObject;
  /** Parameters that the handler reads itself. */
  readonly parameters?: readonly DescribedParameter[];
  /** As what it counts; `requests` where nothing is said. */
  readonly countedAs?: CountedAs;
  /** Counts against a limit of its own, beside that of requests: it does much more than a request. */
  readonly quota?: QuotaName;
  /** The header `Idempotency-Key` is read. A second request with a key is refused, or it is accepted and changes nothing. */
  readonly idempotencyKey?: 'refuses-repeats' | 'accepts-repeats';
  /** Shape of a small JSON body. A body of which every field has a default need not be sent. */
  readonly body?: z.ZodType;
  /** The most bytes of that body, where a small one is not enough. */
  readonly bodyBytes?: number;
  /** A body of any other kind, which the handler reads itself. */
  readonly rawBody?: DescribedBody;
  /** An example of the body. */
  readonly example?: object;
  /** Path of the record that it makes; `id` of the answer is its id. The document links to all that can be done with it. */
  readonly creates?: `/${string}/{id}`;
  /** By status. Where there are several, the handler sets the status. */
  readonly answers: Readonly<Record<number, Answer>>;
  /** Events of an answer that is a stream, by name. */
  readonly events?: Readonly<Record<string, DescribedEvent>>;
  /** Set where the handler sends the answer itself: bytes, a redirect, a stream. */
  readonly raw?: true;
  /** The answer holds a secret: it carries `Cache-Control: no-store`. */
  readonly uncached?: true;
  /** Shows an operator what a customer sent or made: each reading is an entry in the log that the customer reads. */
  readonly readsCustomer?: true;
  /** Errors beyond those that follow from the rest of the definition. */
  readonly errors?: readonly ErrorName[];
}

/** Define an endpoint; its types reach the handler. */
export function defineEndpoint<const E extends Endpoint>(endpoint: E): E {
  return endpoint;
}

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** What the handler of an endpoint gets: who calls, the request as it was checked, and both ends of the connection. */
export type InputOf<E extends Endpoint> = Admitted<E['access']> & {
  params: ParamsOf<E['path']>;
  query: OutputOf<E['query']>;
  body: OutputOf<E['body']>;
  /** The JSON of the body as it came; empty where the endpoint has none. */
  text: string;
  /** Undefined where the client sent none. */
  idempotencyKey: E['idempotencyKey'] extends string ? string | undefined : undefined;
  request: Request;
  response: Response;
};

type BodyOf<A> = A extends { schema: infer Schema extends z.ZodType; content: object }
  ? z.output<Schema> | string
  : A extends { schema: infer Schema extends z.ZodType }
    ? z.output<Schema>
    : A extends { content: object }
      ? string | object
      : void;

/** What the handler of an endpoint returns: the body of one of its answers. */
export type AnswerOf<E extends Endpoint> = E['raw'] extends true ? void : BodyOf<E['answers'][keyof E['answers']]>;
