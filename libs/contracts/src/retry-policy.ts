import { z } from 'zod';
import type { JobErrorCode } from './job';

/**
 * Codes of failed jobs that a retry policy may name: what may end otherwise the next time. A graph that cannot run, a limit that was
 * reached and a credential that was lost are not among them.
 */
export const RETRY_CODES = [
  'engine_error',
  'input_unavailable',
  'node_execution_error',
  'output_storage_error',
  'worker_lost',
] as const satisfies readonly JobErrorCode[];
export type RetryCode = (typeof RETRY_CODES)[number];

/** What a retry policy may ask for at most, and the pause where it names none. */
export const RETRY_LIMITS = { retries: 5, pauseSeconds: 600, defaultPauseSeconds: 10 } as const;

export const RetryPolicySchema = z
  .strictObject({
    max: z.int().min(1).max(RETRY_LIMITS.retries).meta({ description: 'Retries at most, beside the first try.' }),
    on: z
      .array(z.enum(RETRY_CODES))
      .min(1)
      .max(RETRY_CODES.length)
      .meta({ description: 'Codes of `job.error` that are tried again.' }),
    pause_seconds: z
      .int()
      .min(0)
      .max(RETRY_LIMITS.pauseSeconds)
      .default(RETRY_LIMITS.defaultPauseSeconds)
      .meta({ description: 'Seconds between a failed try and the next.' }),
  })
  .meta({
    id: 'RetryPolicy',
    description: 'Which failures of a job are tried again, how often, and after which pause.',
  });
export type RetryPolicy = z.output<typeof RetryPolicySchema>;
