import { z } from 'zod';
import { ACCOUNT_STATUSES, SCOPES, TimestampSchema } from '@millrace/contracts';

const count = z.int().min(0);

export const AccountOverviewSchema = z
  .object({
    id: z.uuid(),
    name: z.string(),
    plan: z.string(),
    status: z.enum(ACCOUNT_STATUSES),
    created_at: TimestampSchema,
    key: z
      .object({ id: z.uuid().nullable(), scopes: z.array(z.enum(SCOPES)) })
      .meta({ description: 'The key that asks; its id is null where none is needed.' }),
    limits: z
      .object({
        running_jobs: count.meta({ description: 'Jobs that may run at once in a pool.' }),
        queued_jobs: count.meta({ description: 'Jobs that may wait in a pool.' }),
        requests_per_minute: count.meta({ description: 'Requests of one key in a minute, polls not counted.' }),
        polls_per_minute: count.meta({ description: 'Polls of one key in a minute: `GET /api/v2/jobs/{id}`.' }),
        event_streams: count.meta({ description: 'Event streams that may be open at once, on each API process.' }),
        upload_bytes_per_day: count
          .nullable()
          .meta({ description: 'Bytes that may be uploaded in a day of UTC; null means any number.' }),
      })
      .meta({ description: 'What the account may do.' }),
    use: z
      .object({
        running_jobs: count.meta({ description: 'Jobs that run or are about to, in all pools.' }),
        queued_jobs: count.meta({ description: 'Jobs that wait, in all pools.' }),
        uploaded_bytes_today: count.meta({ description: 'Bytes uploaded since midnight UTC.' }),
        event_streams: count.meta({ description: 'Event streams open on the API process that answers.' }),
      })
      .meta({ description: 'What it does now.' }),
  })
  .meta({ id: 'Account', description: 'An account, as its own keys see it.' });
