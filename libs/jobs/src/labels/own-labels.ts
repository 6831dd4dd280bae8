import { METADATA_LIMITS, Refusal, type FieldError, type JobMetadata } from '@millrace/contracts';

/**
 * The labels of a job as it is recorded: those of the sub-key that submits it, and those that the submission names.
 *
 * @param own of the sub-key; null: the caller is none.
 * @throws Refusal `metadata_invalid` when the submission gives one of them another value, or there are too many together.
 */
export function withOwnLabels(own: JobMetadata | null, metadata: JobMetadata): JobMetadata {
  if (own === null) return metadata;
  const faults = Object.entries(own).flatMap(([key, value]): FieldError[] => {
    if (!Object.hasOwn(metadata, key) || metadata[key] === value) return [];
    const reason = `is ${JSON.stringify(value)} on every job of this API key; leave it out, or send that value`;
    return [{ field: `metadata.${key}`, reason }];
  });
  if (faults.length > 0) throw Refusal.ofMetadata(faults);
  const labels = { ...metadata, ...own };
  const { pairs } = METADATA_LIMITS;
  if (Object.keys(labels).length <= pairs) return labels;
  const left = pairs - Object.keys(own).length;
  const reason = `can have ${left} labels beside those of this API key, ${pairs} in all; leave some out`;
  throw Refusal.ofMetadata([{ field: 'metadata', reason }]);
}
