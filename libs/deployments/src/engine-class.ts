import { createHash } from 'node:crypto';
import { z } from 'zod';

export const ENGINE_KINDS = ['cpu', 'comfyui'] as const;

/** How an engine class may be named: it is part of the names of Kubernetes objects. */
export const engineClassName = z
  .string()
  .regex(/^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/, 'must be 1 to 40 lower-case letters, digits and dashes');

const texts = z.array(z.string().min(1).max(500)).max(100);
const pairs = z.record(z.string().min(1).max(320), z.string().max(4_000));

/** A Kubernetes toleration, as a pod has it. */
const TolerationSchema = z.strictObject({
  key: z.string().optional(),
  operator: z.enum(['Exists', 'Equal']).optional(),
  value: z.string().optional(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
  tolerationSeconds: z.int().min(0).optional(),
});

/**
 * What an operator offers deployments to run on. Names are those of chart values. What only Kubernetes needs (image, node selector,
 * tolerations) says nothing to a fleet of processes.
 */
const EngineClassSchema = z.strictObject({
  name: engineClassName,
  engine: z.enum(ENGINE_KINDS),
  title: z.string().min(1).max(200).optional(),
  description: z.string().max(2_000).default(''),
  image: z.string().min(1).nullable().default(null),
  gpu: z
    .strictObject({ kind: z.string().min(1).max(100), count: z.int().min(1).max(64) })
    .nullable()
    .default(null),
  /** A Kubernetes quantity. */
  memory: z
    .string()
    .regex(/^\d+(\.\d+)?([kMGT]i?)?$/, 'must be a quantity, such as 16Gi')
    .nullable()
    .default(null),
  nodeSelector: pairs.default({}),
  tolerations: z.array(TolerationSchema).max(50).default([]),
  /** How long a worker may take from its start until it is ready. */
  startSeconds: z.int().min(1).max(86_400).default(120),
  /** Null: the platform's price. */
  priceMicrosPerSecond: z.int().min(0).max(1_000_000_000_000).nullable().default(null),
  /** Host names and networks that its workers may reach beside the service itself. */
  reach: texts.default([]),
  /** Packs of nodes in its image, for customers to read. */
  nodePacks: texts.default([]),
  /** Settings of its workers, over those of the platform. */
  settings: z.record(z.string().regex(/^MILLRACE_[A-Z0-9_]+$/, 'must be settings of Millrace'), z.string()).default({}),
});
export type EngineClassSpec = z.output<typeof EngineClassSchema>;

/** An engine class as it is stored. */
export interface EngineClass extends EngineClassSpec {
  title: string;
  /** Another one where its workers would be other ones: those that run are replaced then. */
  revision: string;
  /** When it was gone from the operator's document; null while it is offered. */
  retiredAt: Date | null;
}

const DocumentSchema = z
  .strictObject({ classes: z.array(EngineClassSchema).max(1_000) })
  .refine(({ classes }) => new Set(classes.map(({ name }) => name)).size === classes.length, {
    path: ['classes'],
    error: 'two classes have one name',
  });

/**
 * The classes of an operator's document.
 *
 * @throws Error with a sentence that says what is wrong and where.
 */
export function readEngineClasses(text: string): EngineClassSpec[] {
  const parsed = DocumentSchema.safeParse(parseJson(text));
  if (parsed.success) return parsed.data.classes;
  const [issue] = parsed.error.issues;
  throw new Error(`${issue?.path.join('.') || 'the document'}: ${issue?.message ?? 'is not valid'}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('the document is not JSON');
  }
}

/** A class with its revision: a digest of what its workers are made of. Names for people and prices change without it. */
export function engineClassOf(spec: EngineClassSpec, retiredAt: Date | null = null): EngineClass {
  const { title, description: _, priceMicrosPerSecond: __, startSeconds: ___, nodePacks: ____, ...made } = spec;
  const revision = createHash('sha256')
    .update(JSON.stringify(sorted(made)))
    .digest('hex')
    .slice(0, 16);
  return { ...spec, title: title ?? spec.name, revision, retiredAt };
}

/** JSON in PostgreSQL does not keep the order of keys. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
