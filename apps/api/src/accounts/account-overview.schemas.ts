import { z } from 'zod';
import { ACCOUNT_LIMITS, ACCOUNT_STATUSES, SCOPES, TimestampSchema } from '@millrace/contracts';

const count = z.int().min(0);

/** The limits that apply: the account's own, or the service's defaults. */
const limits = Object.fromEntries(
  ACCOUNT_LIMITS.map((limit) => [
    limit.shownAs,
    limit.default === null
      ? count.nullable().meta({ description: `${limit.description} Null means any number.` })
      : count.meta({ description: limit.description }),
  ]),
) as Record<(typeof ACCOUNT_LIMITS)[number]['shownAs'], z.ZodInt | z.ZodNullable<z.ZodInt>>;

export const AccountOverviewSchema = z
  .object({
    id: z.uuid(),
    name: z.string(),
    plan: z.string(),
    status: z.enum(ACCOUNT_STATUSES),
    created_at: TimestampSchema,
    key: z
      .object({ id: z.uuid().nullable(), scopes: z.array(z.enum(SCOPES)) })
      .meta({ description: 'The key of this request; its id is null where no key is required.' }),
    limits: z
      .object({
        ...limits,
        polls_per_minute: count.meta({ description: 'Polls in a minute, with all keys: `GET /api/v2/jobs/{id}`.' }),
      })
      .meta({ description: 'The limits of the account.' }),
    use: z
      .object({
        running_jobs: count.meta({ description: 'Jobs that run or are about to run, in all pools.' }),
        queued_jobs: count.meta({ description: 'Jobs that wait, in all pools.' }),
        uploaded_bytes_today: count.meta({ description: 'Bytes uploaded since midnight UTC.' }),
        storage_bytes: count.meta({ description: 'Bytes stored, with those of uploads that are under way.' }),
        event_streams: count.meta({ description: 'Event streams that are open.' }),
      })
      .meta({ description: 'How much of them it uses now.' }),
  })
  .meta({ id: 'Account', description: 'An account, as its own keys see it.' });
