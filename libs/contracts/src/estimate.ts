import { z } from 'zod';
import { ErrorEnvelopeSchema } from './errors/errors';

const micros = z.int();
const milliseconds = z.int();

/** `p50`: half of the runs took at most this; `p90`: nine of ten. */
const quantiles = (unit: z.ZodInt): z.ZodObject<{ p50: z.ZodInt; p90: z.ZodInt }> => z.object({ p50: unit, p90: unit });

/** What a submission would come to. */
export const EstimateSchema = z
  .object({
    accepted: z.boolean().meta({ description: 'True when the same submission would be accepted now.' }),
    error: ErrorEnvelopeSchema.shape.error
      .nullable()
      .meta({ description: 'What it would be refused with; null when accepted.' }),
    price_micros_per_second: micros
      .nullable()
      .meta({ description: 'Of engine time. Null where nothing can run it now.' }),
    hold_micros: micros.nullable().meta({ description: 'What is set aside when the job is recorded.' }),
    known_runs: z
      .int()
      .meta({ description: 'Earlier jobs of the account that asked for the same work there, at most 100.' }),
    run_ms: quantiles(milliseconds)
      .nullable()
      .meta({ description: 'How long they ran, in milliseconds. Null when there are none.' }),
    cost_micros: quantiles(micros).nullable().meta({ description: 'What a job costs that runs so long.' }),
    queue_position: z.int().nullable().meta({ description: '1 for the next to start. An estimate.' }),
    wait_ms: milliseconds
      .nullable()
      .meta({ description: 'Until it starts. Null where there is nothing to estimate from.' }),
    reuse: z
      .object({
        job_id: z.uuid().nullable().meta({
          description:
            'The job that ran, or for a sub-key that does not find it a later one with its outputs; null when the submission would run.',
        }),
        reason: z.string().nullable().meta({ description: 'Why it would run; null when it would not.' }),
      })
      .nullable()
      .meta({
        id: 'EstimatedReuse',
        description: 'Whether it would be answered with the outputs of an earlier job. Null unless it asks for that.',
      }),
  })
  .meta({ id: 'Estimate', description: 'What a submission would come to. Credits in millionths.' });
export type Estimate = z.infer<typeof EstimateSchema>;
