import { z } from 'zod';
import type { Page } from '@millrace/database';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

/** The parameters of every list that comes in pages. */
export const pageQuery = {
  limit: z
    .string()
    .regex(/^\d{1,3}$/, `must be a whole number from 1 to ${MAX_LIMIT}`)
    .transform(Number)
    .refine((limit) => limit >= 1 && limit <= MAX_LIMIT, `must be a whole number from 1 to ${MAX_LIMIT}`)
    .default(DEFAULT_LIMIT)
    .meta({ description: `Items on a page, 1 to ${MAX_LIMIT}; ${DEFAULT_LIMIT} where it is not given.` }),
  cursor: z.string().max(1_000).nullable().default(null).meta({ description: '`next_cursor` of the page before.' }),
};

/** The shape of a page whose items stand under `name`. */
export function pageSchema<Name extends string>(name: Name, item: z.ZodType, id: string): z.ZodType {
  const next = z
    .string()
    .optional()
    .meta({ description: 'Give it as `cursor` for the next page; absent on the last.' });
  return z.object({ [name]: z.array(item), next_cursor: next }).meta({ id, description: 'A page.' });
}

/** A page as it is answered. */
export function presentPage<T>(name: string, page: Page<T>, present: (item: T) => object): Record<string, unknown> {
  const items = page.items.map(present);
  return page.nextCursor === undefined ? { [name]: items } : { [name]: items, next_cursor: page.nextCursor };
}
