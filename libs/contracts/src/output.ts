import { z } from 'zod';
import { BlobHashSchema } from './hash';
import { TimestampSchema } from './ids';

/** Kinds of output (contract, 2.3). The list is closed: anything new is a `file`. */
export const OUTPUT_TYPES = ['image', 'video', 'audio', 'text', 'file', 'latent'] as const;
export type OutputType = (typeof OUTPUT_TYPES)[number];

export const OutputSchema = z
  .object({
    node_id: z.string().meta({ description: 'Node of the submitted graph that produced it.' }),
    name: z.string().meta({ description: 'File name, unique within the job.' }),
    type: z.enum(OUTPUT_TYPES).meta({ id: 'OutputType' }),
    content_type: z.string(),
    size_bytes: z.int().min(0).meta({ format: 'int64' }),
    id: z.uuid(),
    hash: BlobHashSchema.nullable(),
    url: z.url().meta({ description: 'Download link, valid until `url_expires_at`; every answer has a fresh one.' }),
    url_expires_at: TimestampSchema,
    job_id: z.uuid().nullable().optional(),
  })
  .meta({ id: 'Output', description: 'A committed job output: an asset, with the node that produced it.' });
export type Output = z.infer<typeof OutputSchema>;
