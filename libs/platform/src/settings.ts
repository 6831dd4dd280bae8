import { z } from 'zod';

/** One environment variable that a process reads at boot. */
export interface Setting<T = unknown> {
  /** Full name of the variable, e.g. `MILLRACE_LEASE_SECONDS`. */
  name: string;
  /** One sentence for docs/settings.md, with the unit. */
  description: string;
  schema: z.ZodType<T>;
  /** Never printed, not even in an error. */
  secret: boolean;
}
export type SettingsShape = Record<string, Setting>;
export type SettingsOf<S extends SettingsShape> = { [K in keyof S]: S[K] extends Setting<infer T> ? T : never };

/** Declare a setting of ours; `name` is given without the `MILLRACE_` prefix. */
export function setting<T>(name: string, description: string, schema: z.ZodType<T>): Setting<T> {
  return { name: `MILLRACE_${name}`, description, schema, secret: false };
}

/** Declare a setting that carries a credential. */
export function secretSetting<T>(name: string, description: string, schema: z.ZodType<T>): Setting<T> {
  return { ...setting(name, description, schema), secret: true };
}

/** Declare a setting under a name that is not ours, such as `DATABASE_URL`. */
export function sharedSetting<T>(name: string, description: string, schema: z.ZodType<T>, secret = false): Setting<T> {
  return { name, description, schema, secret };
}

/** A whole number written in decimal digits. */
export function integer(bounds: { min: number; max?: number }): z.ZodType<number> {
  return z.coerce
    .string()
    .regex(/^-?\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= bounds.min, `must be at least ${bounds.min}`)
    .refine((value) => value <= (bounds.max ?? Number.MAX_SAFE_INTEGER), `must be at most ${bounds.max}`);
}

/** Thrown at boot. The message is one sentence per bad setting, fit to be shown to an operator. */
export class SettingsError extends Error {
  constructor(readonly faults: string[]) {
    super(faults.join('\n'));
    this.name = 'SettingsError';
  }
}

/**
 * Read a process's settings from its environment, all of them, before anything starts. An empty variable counts as
 * unset.
 *
 * @throws SettingsError naming every variable that is missing or wrong.
 */
export function readSettings<S extends SettingsShape>(shape: S, env: NodeJS.ProcessEnv): SettingsOf<S> {
  const faults: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, { name, schema, secret }] of Object.entries(shape)) {
    const raw = env[name] === '' ? undefined : env[name];
    const parsed = schema.safeParse(raw);
    if (parsed.success) values[key] = parsed.data;
    else faults.push(faultOf(name, raw, secret, parsed.error));
  }
  if (faults.length > 0) throw new SettingsError(faults);
  return values as SettingsOf<S>;
}

function faultOf(name: string, raw: string | undefined, secret: boolean, error: z.ZodError): string {
  if (raw === undefined) return `${name} is not set, and has no default.`;
  const reasons = [...new Set(error.issues.map((issue) => issue.message))].join(', ');
  return secret ? `${name} is not valid: ${reasons}.` : `${name}=${raw} is not valid: ${reasons}.`;
}
