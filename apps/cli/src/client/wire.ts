import { z } from 'zod';
import {
  JobAttemptsSchema,
  JobErrorSchema,
  JobListItemSchema,
  JobMetadataSchema,
  JobSchema,
  JobStandingSchema,
  OutputSchema,
  AssetSchema,
} from '@millrace/contracts';
import { ServiceFailure } from '../process';

/**
 * The contract's shapes as this client reads them. Changes within v2 are additive (contract, section 9): unknown fields
 * pass through, and an unknown code of a job error is a code like any other.
 */
const JobErrorView = JobErrorSchema.extend({ code: JobErrorSchema.shape.message }).loose();
const OutputView = OutputSchema.loose();
const jobFields = {
  error: JobErrorView.nullable(),
  metadata: JobMetadataSchema.default({}),
  outputs: OutputView.array(),
} as const;

export const JobView = JobSchema.extend(jobFields).loose();
export const JobItemView = JobListItemSchema.extend(jobFields)
  .partial({ update_time: true, deployment_id: true })
  .loose();
/** An outcome that a later service adds is one like any other. */
const attempts = JobAttemptsSchema.shape.attempts;
export const JobAttemptsView = JobAttemptsSchema.extend({
  attempts: attempts.element
    .extend({ outcome: z.string().nullable(), error: JobErrorView.nullable(), charge: z.string().nullable() })
    .loose()
    .array(),
}).partial({ retry: true });
/** A reason that a later service adds is one like any other. */
export const WaitingReasonView = JobStandingSchema.shape.waiting_reason
  .unwrap()
  .extend({ code: z.string() })
  .nullable();
export const AssetView = AssetSchema.loose();
export { OutputView };

export type Job = ReturnType<typeof JobView.parse>;
export type JobItem = ReturnType<typeof JobItemView.parse>;
export type JobOutput = ReturnType<typeof OutputView.parse>;
export type JobAttempt = ReturnType<typeof JobAttemptsView.parse>['attempts'][number];
export type WaitingReason = NonNullable<ReturnType<typeof WaitingReasonView.parse>>;
export type AssetRecord = ReturnType<typeof AssetView.parse>;

/** What reading needs of a schema. */
export interface Readable<T> {
  safeParse(
    value: unknown,
  ): { success: true; data: T } | { success: false; error: { issues: { path: PropertyKey[]; message: string }[] } };
}

/** @throws {ServiceFailure} naming the first field that does not match the contract. */
export function readAs<T>(schema: Readable<T>, value: unknown, noun: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.path.map(String).join('.') || 'the whole answer';
  throw new ServiceFailure(`The service's answer is not a valid ${noun}: ${field}: ${issue?.message ?? 'invalid'}.`, {
    code: 'unexpected_answer',
    cure: 'Check that the address is that of a Millrace service.',
  });
}

/** The fields of an object that the service sent; none where it sent something else. */
export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** The records of a list: the answer itself when it is one, else its first field that is. */
export function recordsOf(value: unknown): Record<string, unknown>[] {
  const list = Array.isArray(value) ? value : Object.values(recordOf(value)).find(Array.isArray);
  return Array.isArray(list) ? list.map(recordOf) : [];
}
