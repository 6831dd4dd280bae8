import { Refusal, type JobMetadata } from '@millrace/contracts';
import type { DescribedParameter } from '../endpoints';
import { readLabelFilter } from '../http';
import { LABELS_OF_A_KEY } from './api-key.schemas';

/** The filter of a list of keys: parameters whose names hold the keys of labels, as in a list of jobs. */
export const keyLabelFilter: DescribedParameter = {
  name: 'labels',
  in: 'query',
  required: false,
  description: `Only sub-keys with these labels, and perhaps others: \`labels[key]=value\`, at most ${LABELS_OF_A_KEY}.`,
  schema: {
    type: 'object',
    additionalProperties: { type: 'string', maxLength: 256 },
    maxProperties: LABELS_OF_A_KEY,
  },
  style: 'deepObject',
  explode: true,
};

/**
 * Read the labels by which a list of keys is filtered.
 *
 * @throws Refusal `invalid_request`, 400, naming the parameter.
 */
export function readKeyLabels(query: Record<string, unknown>): JobMetadata {
  const refusal = (reason: string, field: string): Refusal =>
    Refusal.ofFields([{ field, reason: `${reason}; use labels[key]=value` }], 400);
  return readLabelFilter(query, { name: 'labels', of: 'key', max: LABELS_OF_A_KEY, refusal });
}
