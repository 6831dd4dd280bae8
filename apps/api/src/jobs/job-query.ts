import { z } from 'zod';
import { JOB_STATUSES, METADATA_KEY, Refusal, faultOfMetadataValue, type JobMetadata } from '@millrace/contracts';
import { dayOrTime, pageQuery, type DescribedParameter } from '../endpoints';

const MAX_FILTERS = 3;
const FILTER = /^metadata\[(.*)\]$/s;

/** The query of a job list (wire supplement, section 1), without its metadata filters. Unknown parameters are ignored. */
export const jobQuery = z.object({
  ...pageQuery,
  status: z
    .enum(JOB_STATUSES, `must be one of ${JOB_STATUSES.join(', ')}`)
    .optional()
    .meta({ description: 'Only jobs in this state.' }),
  created_after: dayOrTime.optional().meta({ description: 'Only jobs that were submitted at this time or later.' }),
  created_before: dayOrTime.optional().meta({ description: 'Only jobs that were submitted before this time.' }),
});

/** The metadata filters: parameters whose names hold the keys, which the list reads itself. */
export const metadataFilter: DescribedParameter = {
  name: 'metadata',
  in: 'query',
  required: false,
  description: `Only jobs with these labels: \`metadata[key]=value\`, at most ${MAX_FILTERS}.`,
  schema: {
    type: 'object',
    additionalProperties: { type: 'string', maxLength: 256 },
    maxProperties: MAX_FILTERS,
  },
  style: 'deepObject',
  explode: true,
};

/**
 * Read the metadata filters of a query.
 *
 * @throws Refusal `invalid_metadata_filter`.
 */
export function readMetadataFilter(query: Record<string, unknown>): JobMetadata {
  const filters: [string, string][] = [];
  for (const [name, value] of Object.entries(query)) {
    if (name !== 'metadata' && !name.startsWith('metadata[')) continue;
    const key = FILTER.exec(name)?.[1];
    if (key === undefined || !METADATA_KEY.test(key)) throw badFilter(`${name.slice(0, 80)} does not name a key`);
    if (typeof value !== 'string') throw badFilter(`${key} is given more than once`);
    const fault = faultOfMetadataValue(value);
    if (fault !== null) throw badFilter(`the value of ${key} ${fault}, so that no job can have it`);
    filters.push([key, value]);
  }
  if (filters.length > MAX_FILTERS)
    throw badFilter(`there are ${filters.length} filters; at most ${MAX_FILTERS} apply`);
  return Object.fromEntries(filters);
}

function badFilter(reason: string): Refusal {
  return new Refusal(
    'invalid_metadata_filter',
    `The metadata filter is not valid: ${reason}. Use metadata[key]=value.`,
  );
}
