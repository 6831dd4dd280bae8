import { z } from 'zod';
import type { JsonSchema } from '../endpoints';
import type { Reference } from './openapi-types';

const SCHEMAS = '#/components/schemas/';

/**
 * Shapes by name, as JSON Schema: every schema with an id among these and inside them. Made by zod itself, because the
 * dialect of OpenAPI 3.1 is what zod writes; a converter between the two makes a nullable reference never null.
 */
export function componentsOf(schemas: readonly z.ZodType[]): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const schema of schemas) collect(schema, registry);
  const { schemas: made } = z.toJSONSchema(registry, {
    uri: (id) => `${SCHEMAS}${id}`,
    // What may be sent: objects stay open, because changes within a version are additive.
    io: 'input',
  });
  return Object.fromEntries(
    Object.entries(made)
      .map(([id, { $id: _id, $schema: _schema, ...schema }]): [string, JsonSchema] => [id, simplified(schema)])
      .sort(([a], [b]) => a.localeCompare(b)),
  );
}

/** A shape without a name, as it may be sent. */
export function inlineSchema(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...made } = z.toJSONSchema(schema, { io: 'input' });
  return simplified(made);
}

/** A reference to a named shape. @throws when the schema has no id. */
export function refTo(schema: z.ZodType): Reference & JsonSchema {
  const id = schema.meta()?.id;
  if (typeof id !== 'string') throw new Error('a schema of the document has no id');
  return { $ref: `${SCHEMAS}${id}` };
}

/** Ids are unique among all schemas of a process; those of a document are the ones reached from its operations. */
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

const FORMATS = ['uuid', 'date', 'date-time'];

/** Say the same with less: a format instead of its pattern, no bounds that are those of the number type, `[type, null]`. */
function simplified<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((inner: unknown) => simplified(inner)) as T;
  const entries = Object.entries(value).map(([key, inner]: [string, unknown]) => [key, simplified(inner)] as const);
  const { anyOf, ...rest } = Object.fromEntries(entries.filter((entry) => !saysNothing(entry, value)));
  if (anyOf === undefined) return rest as T;
  const [some, none, ...more] = anyOf as JsonSchema[];
  if (none?.type !== 'null' || typeof some?.type !== 'string' || more.length > 0) return { ...rest, anyOf } as T;
  // A value must be of the type and in the list.
  const values = Array.isArray(some.enum) ? { enum: [...(some.enum as unknown[]), null] } : {};
  return { ...some, ...values, ...rest, type: [some.type, 'null'] } as T;
}

function saysNothing([key, value]: readonly [string, unknown], { format }: { format?: unknown }): boolean {
  if (key === 'pattern') return FORMATS.includes(String(format));
  return (
    (key === 'minimum' && value === Number.MIN_SAFE_INTEGER) || (key === 'maximum' && value === Number.MAX_SAFE_INTEGER)
  );
}
