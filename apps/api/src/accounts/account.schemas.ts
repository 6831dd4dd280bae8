import { z } from 'zod';
import { ACCOUNT_STATUSES, TimestampSchema } from '@millrace/contracts';
import { recordName } from '../endpoints/fields';
import { pageSchema } from '../endpoints/page-query';

/** Null means the service's default. */
const limit = z.int().min(1).max(2_000_000_000).nullable();

const limits = {
  weight: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .meta({ description: "Share in the pools' rotation; 1 is a single share." }),
  running_limit: limit.optional().meta({ description: 'Jobs that may run at once in a pool.' }),
  queue_limit: limit.optional().meta({ description: 'Jobs that may wait in a pool.' }),
  requests_per_minute: limit.optional().meta({ description: 'Requests of one key in a minute.' }),
  stream_limit: limit.optional().meta({ description: 'Event streams that may be open at once, per API process.' }),
  upload_bytes_per_day: z
    .int()
    .min(0)
    .nullable()
    .optional()
    .meta({ description: 'Bytes that may be uploaded in a day (UTC).' }),
};

export const AccountCreateSchema = z.object({ name: recordName, plan: recordName.optional(), ...limits }).meta({
  id: 'AccountCreate',
  description: 'What a new account shall be. A limit that is null or absent is the default.',
});

export const AccountUpdateSchema = z
  .object({
    name: recordName.optional(),
    plan: recordName.optional(),
    status: z
      .enum(ACCOUNT_STATUSES)
      .optional()
      .meta({ description: 'A suspended account is refused everything; its jobs run to their end.' }),
    ...limits,
  })
  .meta({
    id: 'AccountUpdate',
    description: 'What shall change. An absent field stays; a limit that is null is the default.',
  });

export const AdminAccountSchema = z
  .object({
    id: z.uuid(),
    name: z.string(),
    kind: z.string(),
    status: z.enum(ACCOUNT_STATUSES),
    plan: z.string(),
    weight: z.int(),
    running_limit: z.int().nullable(),
    queue_limit: z.int().nullable(),
    requests_per_minute: z.int().nullable(),
    stream_limit: z.int().nullable(),
    upload_bytes_per_day: z.int().nullable(),
    created_at: TimestampSchema,
    updated_at: TimestampSchema,
  })
  .meta({ id: 'AdminAccount', description: 'An account, as operators see it. A limit that is null is the default.' });

export const AdminAccountPageSchema = pageSchema('accounts', AdminAccountSchema, 'AdminAccountPage');
