import { z } from 'zod';
import { JobSchema, ProgressSchema } from './job';
import { OutputSchema } from './output';

/** Events of a job's stream, by name (wire supplement, section 3). */
export const JOB_EVENTS = ['status', 'progress', 'preview', 'output'] as const;
export type JobEventName = (typeof JOB_EVENTS)[number];

/**
 * The most bytes of a preview's JPEG. Samplers make pictures of 512 pixels, which have about 40 KiB; Redis keeps the last one of each run
 * for streams that open later.
 */
export const PREVIEW_BYTES = 196_608;

export const PreviewSchema = z
  .object({ node_id: z.string(), content_type: z.literal('image/jpeg'), data_base64: z.string() })
  .meta({ id: 'Preview', description: 'A picture of work in progress.' });
export type Preview = z.infer<typeof PreviewSchema>;

/**
 * Bytes of the outputs in a `status` event, as JSON. Frames stay below 2 MiB (wire supplement, section 3); of outputs with plain
 * names a job has no more than that.
 */
export const STATUS_EVENT_OUTPUT_BYTES = 1_048_576;

const StatusEventSchema = JobSchema.omit({ logs: true })
  .extend({
    outputs_left_out: z
      .int()
      .min(1)
      .optional()
      .meta({
        description:
          'How many outputs are missing from `outputs`, because the event would be too large with them; absent when all are ' +
          'there. `urls.self` has all.',
      }),
  })
  .meta({ id: 'JobWithoutLogs' });
export type StatusEvent = z.infer<typeof StatusEventSchema>;

/** The data of each event. */
export const JobEventSchemas = {
  status: StatusEventSchema,
  progress: ProgressSchema,
  preview: PreviewSchema,
  output: OutputSchema,
} as const satisfies Record<JobEventName, z.ZodType>;

/**
 * What processes publish about a job while it lives. Lossy: a reader that misses one finds the state in Postgres. `status` and
 * `output` only say that there is something to read; `progress` and `preview` contain their snapshot.
 */
export const LiveEventSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('status'), seq: z.int() }),
  z.object({ kind: z.literal('output'), ordinal: z.int() }),
  z.object({ kind: z.literal('progress'), attempt: z.int(), progress: ProgressSchema }),
  z.object({ kind: z.literal('preview'), attempt: z.int(), preview: PreviewSchema }),
]);
export type LiveEvent = z.infer<typeof LiveEventSchema>;
