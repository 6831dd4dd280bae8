import { z } from 'zod';
import { ACCOUNT_LIMITS, ACCOUNT_STATUSES, TimestampSchema, type AccountLimitField } from '@millrace/contracts';
import { pageSchema, recordName } from '../endpoints';

/** A field for each limit that an account can have of its own; null means the service's default. */
function limitFields<T extends z.ZodType>(
  fieldOf: (limit: (typeof ACCOUNT_LIMITS)[number]) => T,
): Record<AccountLimitField, T> {
  const fields = ACCOUNT_LIMITS.map((limit) => [limit.field, fieldOf(limit)]);
  return Object.fromEntries(fields) as Record<AccountLimitField, T>;
}

const limitChanges = {
  weight: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: "Share in the pools' rotation; 1 is a single share." }),
  ...limitFields(({ least, most, description }) =>
    z.int().min(least).max(most).nullable().optional().meta({ description }),
  ),
};

export const AccountCreateSchema = z.object({ name: recordName, plan: recordName.optional(), ...limitChanges }).meta({
  id: 'AccountCreate',
  description: 'A new account. A limit that is null or absent is the default.',
});

export const AccountUpdateSchema = z
  .object({
    name: recordName.optional(),
    plan: recordName.optional(),
    status: z.enum(ACCOUNT_STATUSES).optional().meta({
      description:
        'All requests of a suspended account are refused. Its jobs run to their end, and its deployments keep no workers without work.',
    }),
    ...limitChanges,
  })
  .meta({
    id: 'AccountUpdate',
    description: 'Changes of an account. An absent field keeps its value; a limit that is null is the default.',
  });

export const AdminAccountSchema = z
  .object({
    id: z.uuid(),
    name: z.string(),
    kind: z.string(),
    status: z.enum(ACCOUNT_STATUSES),
    plan: z.string(),
    weight: z.int(),
    ...limitFields(() => z.int().nullable()),
    created_at: TimestampSchema,
    updated_at: TimestampSchema,
    closed_at: TimestampSchema.nullable().meta({
      description: 'When it was closed, to be erased; null for one that is open. It is suspended for good.',
    }),
  })
  .meta({ id: 'AdminAccount', description: 'An account, as operators see it. A limit that is null is the default.' });

export const AdminAccountPageSchema = pageSchema('accounts', AdminAccountSchema, 'AdminAccountPage');
