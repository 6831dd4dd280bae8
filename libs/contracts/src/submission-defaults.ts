import { z } from 'zod';
import { RetryPolicySchema } from './retry-policy';
import { ReuseSchema } from './reuse';

/** How jobs of an account are made where their submission does not say it. */
export const SubmissionDefaultsSchema = z
  .strictObject({
    retry: RetryPolicySchema.nullable().meta({
      description: 'Null: no failure is tried again but those that the service tries again by itself.',
    }),
    reuse: ReuseSchema.nullable().default(null).meta({
      description:
        '`exact`: a job may be answered with the outputs of an earlier one that asked for exactly the same. Null: none is.',
    }),
  })
  .meta({ id: 'SubmissionDefaults', description: 'What applies to a submission that does not say it by a header.' });
export type SubmissionDefaults = z.output<typeof SubmissionDefaultsSchema>;

export const NO_SUBMISSION_DEFAULTS: SubmissionDefaults = { retry: null, reuse: null };
