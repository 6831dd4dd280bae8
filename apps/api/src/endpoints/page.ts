import { z } from 'zod';
import type { Page } from '@millrace/database';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;

const ONCE = 'must be given once';
const WHOLE_NUMBER = `must be a whole number from 1 to ${MAX_LIMIT}`;

/** The parameters of every list that comes in pages. */
export const pageQuery = {
  limit: z
    .preprocess(
      (text) => (typeof text === 'string' ? (/^\d{1,9}$/.test(text) ? Number(text) : NaN) : text),
      z.int(WHOLE_NUMBER).min(1, WHOLE_NUMBER).max(MAX_LIMIT, WHOLE_NUMBER).default(DEFAULT_LIMIT),
    )
    .meta({ description: 'Items on a page.' }),
  cursor: z
    .string(ONCE)
    .optional()
    .transform((cursor) => cursor ?? null)
    .meta({ description: '`next_cursor` of the page before; left out for the first.', minLength: 1 }),
};

type PageSchema<Name extends string, Item extends z.ZodType> = z.ZodObject<
  Record<Name, z.ZodArray<Item>> & { next_cursor: z.ZodOptional<z.ZodString> }
>;

/** The shape of a page whose items stand under `name`. */
export function pageSchema<Name extends string, Item extends z.ZodType>(
  name: Name,
  item: Item,
  id: string,
): PageSchema<Name, Item> {
  const next = z
    .string()
    .optional()
    .meta({ description: 'Give it as `cursor` for the next page; absent on the last.' });
  const shape = { [name]: z.array(item), next_cursor: next } as PageSchema<Name, Item>['shape'];
  return z.object(shape).meta({ id, description: 'A page.' });
}

/** A page as it is answered. */
export function presentPage<Name extends string, T, View>(
  name: Name,
  { items, nextCursor }: Page<T>,
  present: (item: T) => View,
): Record<Name, View[]> & { next_cursor?: string } {
  const page = { [name]: items.map(present) } as Record<Name, View[]>;
  return nextCursor === undefined ? page : { ...page, next_cursor: nextCursor };
}
