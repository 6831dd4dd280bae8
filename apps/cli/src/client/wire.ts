import {
  JobErrorSchema,
  JobListItemSchema,
  JobMetadataSchema,
  JobSchema,
  OutputSchema,
  AssetSchema,
} from '@millrace/contracts';
import { ServiceFailure } from '../process';

/**
 * The contract's shapes as this client reads them. Changes within v2 are additive (contract, section 9): fields it does
 * not know pass through, a job error code it does not know is a code like any other.
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
export const AssetView = AssetSchema.loose();
export { OutputView };

export type Job = ReturnType<typeof JobView.parse>;
export type JobItem = ReturnType<typeof JobItemView.parse>;
export type JobOutput = ReturnType<typeof OutputView.parse>;
export type AssetRecord = ReturnType<typeof AssetView.parse>;

/** A schema of the contracts, as far as reading goes. */
export interface Readable<T> {
  safeParse(
    value: unknown,
  ): { success: true; data: T } | { success: false; error: { issues: { path: PropertyKey[]; message: string }[] } };
}

/** @throws {ServiceFailure} naming the first field that is not as the contract has it. */
export function readAs<T>(schema: Readable<T>, value: unknown, noun: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = issue?.path.map(String).join('.') || 'the whole';
  throw new ServiceFailure(`The service's answer is no ${noun}: ${field}: ${issue?.message ?? 'not as agreed'}.`, {
    code: 'unexpected_answer',
    cure: 'Check that the address is that of a service that speaks this API.',
  });
}

/** An object of the service whose fields are read by name, each only if it has the right kind. */
export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

/** The records of a list: the answer itself when it is one, else its first field that is. */
export function recordsOf(value: unknown): Record<string, unknown>[] {
  const list = Array.isArray(value) ? value : Object.values(recordOf(value)).find(Array.isArray);
  return Array.isArray(list) ? list.map(recordOf) : [];
}
