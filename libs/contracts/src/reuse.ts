import { z } from 'zod';

/** How a submission may be answered with the outputs of an earlier job. */
export const REUSE_MODES = ['exact'] as const;
export const ReuseSchema = z.enum(REUSE_MODES);
export type Reuse = z.output<typeof ReuseSchema>;

/** A job with more outputs is never reused: one statement makes as many records as it has. */
export const REUSE_OUTPUT_LIMIT = 100;
