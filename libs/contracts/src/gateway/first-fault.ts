import { z } from 'zod';

/*
 * Lists and records that are checked item by item, up to the first that does not fit. zod names every one of them, and builds
 * a report for each: 8 MiB of items that are all wrong would take it five seconds and half a gigabyte.
 */

type Checked<T> = z.ZodPipe<z.ZodUnknown, z.ZodTransform<T, unknown>>;

/** @param max items at most. */
export function listToFirstFault<Item extends z.ZodType>(
  item: Item,
  max = Number.MAX_SAFE_INTEGER,
): Checked<z.output<Item>[]> {
  return z.unknown().transform((value, context) => {
    if (!Array.isArray(value)) return refuse(context, 'must be a list');
    if (value.length > max) return refuse(context, `has ${value.length} items; at most ${max} are read`);
    const items: z.output<Item>[] = [];
    for (const [index, one] of value.entries()) {
      const parsed = item.safeParse(one);
      if (!parsed.success) return refuseAt(context, index, parsed.error);
      items.push(parsed.data);
    }
    return items;
  });
}

/** @param max entries at most. */
export function recordToFirstFault<Value extends z.ZodType>(
  value: Value,
  max = Number.MAX_SAFE_INTEGER,
): Checked<Record<string, z.output<Value>>> {
  return z.unknown().transform((record, context) => {
    if (typeof record !== 'object' || record === null || Array.isArray(record)) {
      return refuse(context, 'must be an object');
    }
    const entries: [string, z.output<Value>][] = [];
    // Its entries all at once would be a list for each.
    const keys = Object.keys(record);
    if (keys.length > max) return refuse(context, `has ${keys.length} entries; at most ${max} are read`);
    for (const key of keys) {
      const parsed = value.safeParse((record as Record<string, unknown>)[key]);
      if (!parsed.success) return refuseAt(context, key, parsed.error);
      entries.push([key, parsed.data]);
    }
    return Object.fromEntries(entries);
  });
}

function refuse(context: z.RefinementCtx, message: string): never {
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
}

/** Of one item: it has a few fields. */
function refuseAt(context: z.RefinementCtx, key: string | number, { issues }: z.ZodError): never {
  for (const { message, path } of issues) context.addIssue({ code: 'custom', message, path: [key, ...path] });
  return z.NEVER;
}
