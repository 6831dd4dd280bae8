import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AdminVerb, TypedField } from './admin-verb';
import { ADMIN_VERBS } from './admin-verbs';

interface Schema {
  $ref?: string;
  type?: string | string[];
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
}

interface Operation {
  operationId: string;
  parameters: { name?: string; in?: string; $ref?: string }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const { paths, components } = JSON.parse(
  readFileSync(join(__dirname, '../../../../../docs/admin-openapi.json'), 'utf8'),
) as Document;

const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => {
    const route = `${method.toUpperCase()} ${path.replace('/admin/v1', '')}`;
    return { route, operation, verb: ADMIN_VERBS.find((verb) => verb.route === route) };
  }),
);
/** The description itself, and what gives a browser its cookie: the command line sends the token. */
const WITHOUT_VERB = [
  'getOpenApiDocument',
  'signInOperator',
  'getOperatorSession',
  'signOutOperator',
  'listSignInWays',
  'beginOperatorSignIn',
  'finishOperatorSignIn',
];
const served = operations.filter(({ operation }) => !WITHOUT_VERB.includes(operation.operationId));

describe('the verbs of millrace admin', () => {
  it('are the operations of the admin API', () => {
    expect(ADMIN_VERBS.map(({ route }) => route).sort()).toEqual(served.map(({ route }) => route).sort());
  });

  it.each(served)('take what $route takes', ({ operation, verb }) => {
    const query = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
    const fields = [...query, ...Object.keys(bodyOf(operation))];
    expect(
      typedFields(verb)
        .map(({ field }) => field)
        .sort(),
    ).toEqual(fields.sort());
    expect(verb?.ids ?? []).toHaveLength([...(verb?.route ?? '').matchAll(/\{/g)].length);
  });

  it.each(served)('send a key where $route takes one', ({ operation, verb }) => {
    const takesKey = operation.parameters.some(({ $ref }) => $ref?.endsWith('/RepeatableKey'));
    expect(verb?.takesKey ?? false).toBe(takesKey);
  });

  it.each(served.flatMap(({ operation, verb }) => numbersOf(operation, verb)))(
    'keep $field of $id to the bounds that the API has',
    ({ typed, schema: { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } }) => {
      const read = (value: number): unknown => typed?.read?.(String(value), '--flag');
      expect([read(minimum), read(maximum)]).toEqual([minimum, maximum]);
      expect(() => read(minimum - 1)).toThrow('--flag');
      expect(() => read(maximum + 1)).toThrow('--flag');
    },
  );

  it.each(
    served.flatMap(({ operation, verb }) => numbersOf(operation, verb)).filter(({ schema }) => isNullable(schema)),
  )('give $field of $id back to its default', ({ typed }) => {
    expect(typed?.read?.('default', '--flag')).toBeNull();
  });
});

function bodyOf({ requestBody }: Operation): Record<string, Schema> {
  const reference = requestBody?.content['application/json']?.schema.$ref?.split('/').at(-1) ?? '';
  return components.schemas[reference]?.properties ?? {};
}

function typedFields(verb: AdminVerb | undefined): TypedField[] {
  return [...(verb?.args ?? []), ...(verb?.flags ?? [])];
}

/** Whole numbers that a verb takes; an amount of credits is typed in credits. */
function numbersOf(operation: Operation, verb: AdminVerb | undefined) {
  return Object.entries(bodyOf(operation))
    .filter(([field, { type = [] }]) => type.includes('integer') && field !== 'amount_micros')
    .map(([field, schema]) => {
      const typed = typedFields(verb).find((one) => one.field === field);
      return { id: operation.operationId, field, schema, typed };
    });
}

function isNullable({ type = [] }: Schema): boolean {
  return type.includes('null');
}
