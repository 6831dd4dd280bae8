import { z } from 'zod';
import { TimestampSchema } from '@millrace/contracts';
import { AT_CAP } from '@millrace/jobs';

const SCOPES = ['account', 'key'] as const;
const micros = z.int().min(0).max(Number.MAX_SAFE_INTEGER).nullable().default(null);
const atCap = z.enum(AT_CAP).default('finish');
const AT_CAP_TEXT =
  'What happens when it is used up. `stop`: nothing is held beyond it; jobs are refused until the span is over or the cap is raised, and ' +
  'those that wait or run are canceled. `finish`: a job that would go beyond it is refused, but what runs may finish, beyond it if it must.';

export const SpendCapPutSchema = z
  .object({
    scope: z.enum(SCOPES).meta({ description: 'All jobs of the account, or those that a key submits.' }),
    key_id: z
      .uuid()
      .nullable()
      .default(null)
      .meta({
        description:
          'The key, with the scope `key`; null: each key that has no cap of its own, by itself. A key and its successors have one cap, and what keys ' +
          'submit that it made counts in it, too, unless it may set caps.',
      }),
    daily_micros: micros.meta({
      description:
        'What the jobs may cost in a day (UTC), in millionths of a credit: charged and held together; null or absent: no cap.',
    }),
    monthly_micros: micros.meta({ description: 'The same of a month (UTC).' }),
    daily_at_cap: atCap.meta({ description: AT_CAP_TEXT }),
    monthly_at_cap: atCap.meta({ description: 'The same of the cap of a month.' }),
  })
  .refine(({ scope, key_id: key }) => scope === 'key' || key === null, {
    path: ['key_id'],
    message: 'must be absent with the scope account',
  })
  .refine(({ daily_micros: day, monthly_micros: month }) => day !== null || month !== null, {
    message: 'must have a cap: daily_micros or monthly_micros',
  })
  .meta({ id: 'SpendCapPut', description: 'What the jobs of an account or a key may cost.' });

export const SpendCapSchema = z
  .object({
    id: z.uuid(),
    scope: z.enum([...SCOPES, 'label']),
    key_id: z
      .string()
      .nullable()
      .meta({ description: 'Of the scope `key`: its latest successor; null: each key that has no cap of its own.' }),
    label: z
      .string()
      .nullable()
      .meta({ description: 'Of the scope `label`: the key of the label, whose cap is a label rule.' }),
    value: z
      .string()
      .nullable()
      .meta({ description: 'Of the scope `label`; null: each value that has no rule of its own.' }),
    daily_micros: z.int().nullable(),
    monthly_micros: z.int().nullable(),
    daily_at_cap: z.enum(AT_CAP).nullable(),
    monthly_at_cap: z.enum(AT_CAP).nullable(),
    held_micros: z.int().meta({ description: 'Held now. With what is charged, it counts against both caps.' }),
    day_micros: z.int().meta({ description: 'Charged today (UTC).' }),
    month_micros: z.int().meta({ description: 'Charged this month (UTC).' }),
    stopped: z
      .enum(['day', 'month'])
      .nullable()
      .meta({ description: 'The cap with `stop` that is used up; null: none is.' }),
    updated_at: TimestampSchema,
  })
  .meta({
    id: 'SpendCap',
    description: 'A cap, and what is used of it. Of a cap of each key or value, nothing is counted together.',
  });

export const SpendCapListSchema = z
  .object({ spend_caps: z.array(SpendCapSchema) })
  .meta({ id: 'SpendCapList', description: 'All caps of the account, of its keys, and of its labels.' });
