import { METADATA_KEY, beginningOf, faultOfMetadataValue, type JobMetadata, type Refusal } from '@millrace/contracts';

/** What a filter by labels is of, and how one that cannot be read is refused. */
export interface LabelFilterKind {
  /** Name of the parameter: `name[key]=value`. */
  name: 'metadata' | 'labels';
  /** What the labels are of, in the singular, for messages. */
  of: string;
  /** How many may apply at once. */
  max: number;
  /** @param name of the parameter at fault, or the first 80 characters of it. */
  refusal: (reason: string, name: string) => Refusal;
}

/**
 * Read the labels that a query filters by: parameters whose names hold the keys.
 *
 * @returns no label where the query names none.
 * @throws Refusal what `refusal` makes of the first fault.
 */
export function readLabelFilter(query: Record<string, unknown>, kind: LabelFilterKind): JobMetadata {
  const { name: parameter, max, refusal } = kind;
  const filters: [string, string][] = [];
  for (const [name, value] of Object.entries(query)) {
    if (name !== parameter && !name.startsWith(`${parameter}[`)) continue;
    const shown = beginningOf(name, 80);
    const key = name.endsWith(']') ? name.slice(parameter.length + 1, -1) : '';
    if (!METADATA_KEY.test(key)) throw refusal(`${shown} does not name a key`, shown);
    if (typeof value !== 'string') throw refusal(`${key} is given more than once`, shown);
    const fault = faultOfMetadataValue(value);
    if (fault !== null) throw refusal(`the value of ${key} ${fault}, so that no ${kind.of} can have it`, shown);
    filters.push([key, value]);
  }
  if (filters.length > max) throw refusal(`there are ${filters.length} filters; at most ${max} apply`, parameter);
  return Object.fromEntries(filters);
}
