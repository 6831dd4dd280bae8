import { z } from 'zod';
import type { ToolCall } from './tool';

/** What refusals call it: calls have an argument of this name. */
export const SPEND_LIMIT_ARGUMENT = 'spend_limit_micros';

/** The argument by which a model limits what a job may cost. */
export const spendLimitInput = z
  .int()
  .min(0)
  .optional()
  .describe(
    'The most that the job may cost, in micro-credits. It is refused when more than that is held for it (hold_micros of ' +
      'estimate_job), and stopped when it reaches it. Only lowers the limit of this connection.',
  );

/** The most that a job of this call may cost, in micro-credits: the lower of what the call and its connection say. */
export function spendLimitOfCall({ spendLimitMicros: most }: ToolCall, wanted: number | undefined): bigint {
  return wanted === undefined || BigInt(wanted) > most ? most : BigInt(wanted);
}
