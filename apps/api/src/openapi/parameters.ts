import type { z } from 'zod';
import { REASON_HEADER, pathParametersOf, type Endpoint } from '../endpoints';
import type { Parameter, Reference } from './openapi-types';
import { inlineSchema } from './schemas';

const KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e](?:[\\x20-\\x7e]*[\\x21-\\x7e])?$' },
  example: '6f1d4f0e-3a52-4b8e-9c1d-2f7a5b9e0c44',
} as const;

const REQUEST_ID: Parameter = {
  name: 'X-Request-Id',
  in: 'header',
  required: false,
  description:
    'An id of your own for this request; echoed in the answer and written to the logs. One of another form is replaced.',
  schema: { type: 'string', maxLength: 128, pattern: '^[A-Za-z0-9._:-]+$' },
};

const IDEMPOTENCY_KEYS: Record<NonNullable<Endpoint['idempotencyKey']>, [component: string, Parameter]> = {
  'refuses-repeats': [
    'IdempotencyKey',
    {
      ...KEY,
      description:
        'A key of your own, best a UUID, that makes a retry safe: a second request with it is refused and never executed. ' +
        'It is released when the request definitely failed, and forgotten after 24 hours.',
    },
  ],
  'accepts-repeats': [
    'RepeatableKey',
    { ...KEY, description: 'A key of your own, best a UUID: sending the request again with it changes nothing.' },
  ],
};

/** A parameter, and its name where several operations share it. */
interface Named {
  component?: string;
  parameter: Parameter;
}

/** The parameters of an operation, in the order path, query, headers. Shared ones are references. */
export function parametersOf(endpoint: Endpoint): (Parameter | Reference)[] {
  return namedParameters(endpoint).map(({ component, parameter }) =>
    component === undefined ? parameter : { $ref: `#/components/parameters/${component}` },
  );
}

/** The shared parameters of these operations, by name. */
export function sharedParameters(endpoints: readonly Endpoint[]): Record<string, Parameter> {
  const shared = endpoints
    .flatMap(namedParameters)
    .flatMap(({ component, parameter }): [string, Parameter][] =>
      component === undefined ? [] : [[component, parameter]],
    );
  return Object.fromEntries(shared);
}

function namedParameters(endpoint: Endpoint): Named[] {
  const { access, idempotencyKey, parameters = [] } = endpoint;
  const [component, key] = idempotencyKey === undefined ? [] : IDEMPOTENCY_KEYS[idempotencyKey];
  return [
    ...pathParameters(endpoint),
    ...queryParameters(endpoint),
    ...parameters.map((parameter) => ({ parameter })),
    ...(key === undefined ? [] : [{ component, parameter: key }]),
    ...(access.by === 'operator' ? [{ component: 'Reason', parameter: REASON_HEADER }] : []),
    { component: 'RequestId', parameter: REQUEST_ID },
  ];
}

function pathParameters(endpoint: Endpoint): Named[] {
  return pathParametersOf(endpoint).map(([name, { component, description, schema }]) => ({
    component,
    parameter: { name, in: 'path', required: true, description, schema },
  }));
}

/** Each property of the query's schema is a parameter. */
function queryParameters({ id, query }: Endpoint): Named[] {
  const fields = (query?.shape ?? {}) as Record<string, z.ZodType>;
  return Object.entries(fields).map(([name, field]) => {
    const { description, ...schema } = inlineSchema(field);
    if (typeof description !== 'string') throw new Error(`the parameter ${name} of ${id} has no description`);
    return { parameter: { name, in: 'query', required: !field.isOptional(), description, schema } };
  });
}
