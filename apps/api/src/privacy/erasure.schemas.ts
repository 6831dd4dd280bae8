import { z } from 'zod';
import {
  ERASURE_STATES,
  ERASURE_SUBJECTS,
  METADATA_KEY,
  TimestampSchema,
  faultOfMetadataValue,
} from '@millrace/contracts';
import { ERASURE_COUNTS } from '@millrace/privacy';
import { pageSchema } from '../endpoints';

const REQUIRED = {
  job: ['job_id'],
  label: ['label', 'value'],
  account: ['confirm'],
} as const;
const FIELDS = ['job_id', 'label', 'value', 'confirm'] as const;

export const ErasureRequestSchema = z
  .object({
    subject: z.enum(ERASURE_SUBJECTS).meta({
      description:
        '`job`: one job. `label`: all that carries a label with this value, such as an end user. `account`: the account with all that it has.',
    }),
    job_id: z.uuid().optional().meta({ description: 'Of the subject `job`.' }),
    label: z
      .string()
      .regex(METADATA_KEY, 'must be 1 to 40 letters, digits, "_", "." or "-"')
      .optional()
      .meta({ description: "Of the subject `label`: the label's key, such as `user`." }),
    value: z
      .string()
      .superRefine((text, context) => {
        const fault = faultOfMetadataValue(text);
        if (fault !== null) context.addIssue({ code: 'custom', message: fault });
      })
      .optional()
      .meta({
        description: 'Of the subject `label`: its value, such as `ada`. It is forgotten when the erasure is done.',
      }),
    confirm: z.string().max(200).optional().meta({
      description:
        'Of the subject `account`: `erase account` and its id, such as `erase account 0199…`. It cannot be undone.',
    }),
  })
  .superRefine((body, context) => {
    const required: readonly string[] = REQUIRED[body.subject];
    for (const field of FIELDS) {
      const isThere = body[field] !== undefined;
      if (isThere === required.includes(field)) continue;
      const message = isThere
        ? `is not for the subject ${body.subject}`
        : `is required for the subject ${body.subject}`;
      context.addIssue({ code: 'custom', path: [field], message });
    }
  })
  .meta({ id: 'ErasureRequest', description: 'What is to be erased.' });

export const ErasureSchema = z
  .object({
    id: z.uuid(),
    account_id: z.uuid(),
    subject: z.enum(ERASURE_SUBJECTS),
    job_id: z.uuid().nullable(),
    label: z.string().nullable(),
    value: z.string().nullable().meta({ description: 'Null once it is done.' }),
    pseudonym: z.string().meta({ description: 'What stands in the books where the subject stood.' }),
    state: z.enum(ERASURE_STATES),
    counts: z
      .partialRecord(z.enum(ERASURE_COUNTS), z.int())
      .meta({ description: 'What is gone so far, or names nobody any more.' }),
    requested_by: z
      .string()
      .meta({ description: '`api_key:<id>` or `member:<id>`, or an operator: to the account `operator`.' }),
    requested_at: TimestampSchema,
    started_at: TimestampSchema.nullable(),
    done_at: TimestampSchema.nullable(),
  })
  .meta({ id: 'Erasure', description: 'A request for erasure, and how far it is.' });

export const ErasurePageSchema = pageSchema('erasures', ErasureSchema, 'ErasurePage');
