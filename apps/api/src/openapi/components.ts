import { z } from 'zod';
import type { Header, JsonSchema, Parameter, Reference } from './openapi-types';

const SCHEMAS = '#/components/schemas/';

/**
 * Shapes by name, as JSON Schema: every schema with an id among these and inside them. Made by zod itself, because the
 * dialect of OpenAPI 3.1 is what zod writes; a converter between the two says of a nullable reference that it is never null.
 */
export function componentsOf(schemas: readonly z.ZodType[]): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const schema of schemas) collect(schema, registry);
  const { schemas: made } = z.toJSONSchema(registry, {
    uri: (id) => `${SCHEMAS}${id}`,
    // What may be sent: objects stay open, because changes within a version are additive.
    io: 'input',
    override: ({ jsonSchema }) => simplify(jsonSchema as JsonSchema),
  });
  return Object.fromEntries(
    Object.entries(made)
      .map(([id, { $id: _id, $schema: _schema, ...schema }]): [string, JsonSchema] => [id, schema])
      .sort(([a], [b]) => a.localeCompare(b)),
  );
}

/** A reference to a named shape. @throws when the schema has no id. */
export function refTo(schema: z.ZodType): Reference & JsonSchema {
  const id = schema.meta()?.id;
  if (typeof id !== 'string') throw new Error('a schema of the document has no id');
  return { $ref: `${SCHEMAS}${id}` };
}

/** Ids are unique among all schemas of a process; those of this document are the ones reached from its operations. */
function collect(schema: z.ZodType, registry: ReturnType<typeof z.registry<{ id: string }>>): void {
  const id = schema.meta()?.id;
  if (typeof id === 'string') {
    if (registry.has(schema)) return;
    registry.add(schema, { id });
  }
  for (const inner of innerOf(schema)) collect(inner, registry);
}

function innerOf(schema: z.ZodType): z.ZodType[] {
  if (schema instanceof z.ZodObject) {
    const { catchall } = schema.def;
    const properties: Record<string, z.ZodType> = schema.shape;
    return [...Object.values(properties), ...(catchall ? [catchall as z.ZodType] : [])];
  }
  if (schema instanceof z.ZodArray) return [schema.element as z.ZodType];
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return [schema.unwrap() as z.ZodType];
  if (schema instanceof z.ZodRecord) return [schema.valueType as z.ZodType];
  if (schema instanceof z.ZodUnion) return [...(schema.options as readonly z.ZodType[])];
  return [];
}

/** Say the same with less: a format instead of its pattern, no bounds that are those of the number type, `[type, null]`. */
function simplify(schema: JsonSchema): void {
  if (schema.format === 'uuid' || schema.format === 'date-time') delete schema.pattern;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return;
  const [some, none] = anyOf as JsonSchema[];
  if (none?.type !== 'null' || typeof some?.type !== 'string') return;
  delete schema.anyOf;
  Object.assign(schema, some, rest, { type: [some.type, 'null'] });
}

const uuid = { type: 'string', format: 'uuid' };

/** Parameters that several operations take. */
export const PARAMETERS = {
  JobId: { name: 'id', in: 'path', required: true, description: 'Id of the job.', schema: uuid },
  AssetId: { name: 'id', in: 'path', required: true, description: 'Id of the asset.', schema: uuid },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description:
      'A key of your own, a UUID at best, that makes a retry safe: a second request with it is refused and never executed. ' +
      'It is released when the request definitely failed, and forgotten after 24 hours.',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
    example: '6f1d4f0e-3a52-4b8e-9c1d-2f7a5b9e0c44',
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    required: false,
    description: 'An id of your own for this request; echoed in the answer and written to the logs.',
    schema: { type: 'string', maxLength: 128, pattern: '^[A-Za-z0-9._:-]+$' },
  },
} as const satisfies Record<string, Parameter>;

/** Headers that several answers carry. */
export const HEADERS = {
  RequestId: {
    description: 'Id of the request: the one that was sent, or a new one. Tell it to support.',
    required: true,
    schema: { type: 'string' },
  },
  RateLimitPolicy: {
    description: 'The limit that the request counted against: its name, the quota `q` and the window `w` in seconds.',
    schema: { type: 'string' },
    example: '"requests";q=12000;w=60',
  },
  RateLimit: {
    description: 'What is left of that limit: `r` more, for the next `t` seconds.',
    schema: { type: 'string' },
    example: '"requests";r=11980;t=42',
  },
  RetryAfter: {
    description: 'Whole seconds to wait, at least 1.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
  },
} as const satisfies Record<string, Header>;

export function parameterRef(name: keyof typeof PARAMETERS): Reference {
  return { $ref: `#/components/parameters/${name}` };
}

export function headerRef(name: keyof typeof HEADERS): Reference {
  return { $ref: `#/components/headers/${name}` };
}
