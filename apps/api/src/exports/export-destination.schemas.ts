import { z } from 'zod';
import { TimestampSchema } from '@millrace/contracts';
import { DELIVERY_STATES, EXPORT_DISABLED_REASONS } from '@millrace/billing';
import { pageQuery, pageSchema } from '../endpoints';

/** AWS, "General purpose bucket naming rules". */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const REGION = /^[a-z0-9-]{1,40}$/;
/** A part between two "/": neither empty, nor "." or "..". */
const PART = "(?:\\.{0,2}[A-Za-z0-9!_*'()=-][A-Za-z0-9!_*'()=.-]*|\\.{3}[A-Za-z0-9!_*'()=.-]*)";
const PREFIX = new RegExp(`^(?:${PART}/)*${PART}?$`);
const SECRET = /^[\x21-\x7e]+$/;

export const ExportDestinationPutSchema = z
  .object({
    bucket: z.string().regex(BUCKET, 'must be the name of a bucket').nullable().meta({
      description: "A bucket of yours. null: the service's own bucket, where it has one, under `exports/<account>/`.",
    }),
    region: z.string().regex(REGION, 'must be a region such as eu-central-1').default('us-east-1'),
    endpoint: z.string().min(1).max(2_048).nullable().default(null).meta({
      description:
        "URL of an S3 server other than AWS's: https:// and a host of the public internet; port 443, or one from 1024.",
    }),
    access_key_id: z.string().regex(SECRET, 'must have no spaces').max(256).nullable().default(null),
    secret_access_key: z.string().regex(SECRET, 'must have no spaces').max(256).nullable().default(null).meta({
      description:
        'Kept encrypted, and never shown. The key needs s3:PutObject and s3:AbortMultipartUpload, and nothing else.',
    }),
    prefix: z
      .string()
      .max(500)
      .regex(
        PREFIX,
        'must have letters, digits and !_.*\'()/=- alone, and no part between "/" that is empty, "." or ".."',
      )
      .default('')
      .meta({ description: 'What the names of all files begin with; a `/` is added where it is missing.' }),
  })
  .superRefine(({ bucket, endpoint, access_key_id: id, secret_access_key: secret }, context) => {
    const fault = (path: string, message: string): void => context.addIssue({ code: 'custom', path: [path], message });
    if (bucket === null) {
      if (endpoint !== null) fault('endpoint', "must be absent for the service's own bucket");
      if (id !== null || secret !== null) fault('access_key_id', "must be absent for the service's own bucket");
      return;
    }
    if (id === null) fault('access_key_id', 'is required for a bucket of yours');
    if (secret === null) fault('secret_access_key', 'is required for a bucket of yours');
  })
  .meta({ id: 'ExportDestinationPut', description: 'Where daily exports are written.' });

export const ExportDestinationPatchSchema = z
  .object({
    enabled: z.boolean().meta({
      description: 'False: nothing is written. True: it is again, and days that were missed are written first.',
    }),
  })
  .meta({ id: 'ExportDestinationPatch', description: 'Whether daily exports are written.' });

export const ExportDestinationSchema = z
  .object({
    bucket: z.string().nullable().meta({ description: "null: the service's own." }),
    region: z.string().nullable(),
    endpoint: z.string().nullable(),
    access_key_id: z.string().nullable(),
    prefix: z.string(),
    enabled: z.boolean(),
    disabled_at: TimestampSchema.nullable(),
    disabled_reason: z.literal([...EXPORT_DISABLED_REASONS, null]).meta({
      description: '`by_owner`; `failing`: no attempt succeeded for three days. Enable it when the bucket is well.',
    }),
    failing_since: TimestampSchema.nullable().meta({
      description: 'The first failed attempt since the last that succeeded; null where the last one did.',
    }),
    created_at: TimestampSchema,
    updated_at: TimestampSchema,
  })
  .meta({ id: 'ExportDestination', description: 'Where daily exports of the account are written.' });

const FileSumsSchema = z.object({ rows: z.int(), charged_micros: z.int() }).nullable().meta({
  id: 'DeliveredFile',
  description: 'What the file that was written adds up to; null until it is, and of a test.',
});

export const ExportDeliverySchema = z
  .object({
    id: z.uuid(),
    day: z.string().nullable().meta({ description: 'As `yyyy-mm-dd`, UTC; null: a test.' }),
    state: z.literal([...DELIVERY_STATES]).meta({
      description: '`failed`: a test that did not succeed, or what waited when the destination was removed.',
    }),
    location: z.string().nullable().meta({ description: 'Where the files are; null until they are written.' }),
    usage: FileSumsSchema,
    ledger: FileSumsSchema,
    created_at: TimestampSchema,
    ended_at: TimestampSchema.nullable(),
    next_attempt_at: TimestampSchema.nullable(),
    attempts: z.array(
      z.object({
        attempt: z.int(),
        at: TimestampSchema,
        error: z.string().nullable().meta({ description: 'Why it failed; null where it succeeded.' }),
        duration_ms: z.int(),
      }),
    ),
  })
  .meta({ id: 'ExportDelivery', description: 'A day that is written to the destination, or a test of it.' });

export const ExportDeliveryQuery = z.object(pageQuery);
export const ExportDeliveryPageSchema = pageSchema('deliveries', ExportDeliverySchema, 'ExportDeliveryPage');
