import { z } from 'zod';
import { ACCOUNT_STATUSES, SCOPES } from '@millrace/contracts';

const Name = z.string().trim().min(1).max(200);
const Limit = z.int().min(1).max(2_000_000_000).nullable();

/** Bodies of the admin API. */
export const CreateAccountSchema = z.object({
  name: Name,
  plan: Name.optional(),
  running_limit: Limit.optional(),
  queue_limit: Limit.optional(),
});

export const UpdateAccountSchema = z.object({
  name: Name.optional(),
  plan: Name.optional(),
  status: z.enum(ACCOUNT_STATUSES).optional(),
  weight: z.int().min(1).max(1_000).optional(),
  running_limit: Limit.optional(),
  queue_limit: Limit.optional(),
  requests_per_minute: Limit.optional(),
  stream_limit: Limit.optional(),
  upload_bytes_per_day: z.int().min(0).nullable().optional(),
});

export const CreateApiKeySchema = z.object({
  name: Name,
  scopes: z.array(z.enum(SCOPES)).min(1).optional(),
  expires_at: z.iso.datetime({ offset: true }).nullable().optional(),
});

export const AddCreditsSchema = z.object({
  amount_micros: z.int().min(1),
  reason: z.string().trim().min(1).max(500),
});
