import { z } from 'zod';
import { JOB_STATUSES, Refusal, type JobMetadata } from '@millrace/contracts';
import { dayOrTime, pageQuery, type DescribedParameter } from '../endpoints';
import { readLabelFilter } from '../http';

const MAX_FILTERS = 3;

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
  return readLabelFilter(query, { name: 'metadata', of: 'job', max: MAX_FILTERS, refusal: badFilter });
}

function badFilter(reason: string): Refusal {
  return new Refusal(
    'invalid_metadata_filter',
    `The metadata filter is not valid: ${reason}. Use metadata[key]=value.`,
  );
}
