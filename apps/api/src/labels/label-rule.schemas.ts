import { z } from 'zod';
import { METADATA_KEY, TimestampSchema, faultOfMetadataValue } from '@millrace/contracts';
import { AT_CAP } from '@millrace/jobs';

const LIMIT = 'null or absent: no limit';
const label = z.string().regex(METADATA_KEY, 'must be 1 to 40 letters, digits, "_", "." or "-"').meta({
  description: "The label's key, such as `user`.",
});
const value = z.string().superRefine((text, context) => {
  const fault = faultOfMetadataValue(text);
  if (fault !== null) context.addIssue({ code: 'custom', message: fault });
});
const micros = z.int().min(0).nullable();
const limits = {
  max_jobs: z
    .int()
    .min(0)
    .max(1_000_000)
    .nullable()
    .default(null)
    .meta({
      description: `Jobs with the label that have not ended, waiting and running together; ${LIMIT}.`,
    }),
  daily_micros: micros.default(null).meta({
    description: `What jobs with the label may cost in a day (UTC), in millionths of a credit: charged and held together; ${LIMIT}.`,
  }),
  monthly_micros: micros.default(null).meta({ description: `The same of a month; ${LIMIT}.` }),
  daily_at_cap: z
    .enum(AT_CAP)
    .nullable()
    .default(null)
    .meta({
      description:
        'What happens when daily_micros is used up. `stop`: jobs with the label are refused for the rest of the day, and those that wait or run are ' +
        'canceled. `finish`: what runs may finish, beyond it if it must. Null or absent: nothing is held beyond it, and a job that needs more is ended.',
    }),
  monthly_at_cap: z.enum(AT_CAP).nullable().default(null).meta({ description: 'The same of monthly_micros.' }),
  retention_seconds: z.int().min(3_600).max(2_000_000_000).nullable().default(null).meta({
    description:
      'For how long jobs with the label are kept, outputs and all, from their submission on; null or absent, and where it is longer: as long as all jobs.',
  }),
};

export const LabelRulePutSchema = z
  .object({
    label,
    value: value.nullable().default(null).meta({
      description:
        'The value that it is for, such as `ada`; null or absent: every value without a rule of its own, each by itself.',
    }),
    ...limits,
  })
  .refine(
    ({ label: _, value: __, daily_at_cap: ___, monthly_at_cap: ____, ...rule }) =>
      Object.values(rule).some((limit) => limit !== null),
    {
      message: 'must have a limit: max_jobs, daily_micros, monthly_micros or retention_seconds',
    },
  )
  .meta({ id: 'LabelRulePut', description: 'What jobs with a label may use.' });

export const LabelRuleSchema = z
  .object({
    id: z.uuid(),
    label: z.string(),
    value: z.string().nullable(),
    max_jobs: z.int().nullable(),
    daily_micros: z.int().nullable(),
    monthly_micros: z.int().nullable(),
    daily_at_cap: z.enum(AT_CAP).nullable(),
    monthly_at_cap: z.enum(AT_CAP).nullable(),
    retention_seconds: z.int().nullable(),
    created_at: TimestampSchema,
    updated_at: TimestampSchema,
  })
  .meta({
    id: 'LabelRule',
    description: 'What jobs with a label may use. A null value: every value without a rule of its own.',
  });

export const LabelRuleListSchema = z
  .object({ label_rules: z.array(LabelRuleSchema) })
  .meta({ id: 'LabelRuleList', description: 'All rules of the account, by label.' });

export const LabelUseQuery = z.object({
  label,
  value: value.meta({ description: "The label's value, such as `ada`." }),
});

export const LabelUseSchema = z
  .object({
    label: z.string(),
    value: z.string(),
    jobs: z.int().meta({ description: 'Jobs that have not ended.' }),
    held_micros: z.int().meta({ description: 'Held for them.' }),
    day_micros: z.int().meta({ description: 'Charged today (UTC).' }),
    month_micros: z.int().meta({ description: 'Charged this month (UTC).' }),
  })
  .meta({
    id: 'LabelUse',
    description: 'What jobs with a label use of its rule, of those that were submitted since it was made.',
  });
