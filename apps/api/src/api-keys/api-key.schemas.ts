import { z } from 'zod';
import { API_KEY_STATES, NETWORKS_LISTED } from '@millrace/accounts';
import {
  JobMetadataSchema,
  METADATA_KEY,
  SCOPES,
  TimestampSchema,
  beginningOf,
  boundedList,
  faultOfMetadataValue,
} from '@millrace/contracts';
import { expiry, recordName } from '../endpoints';

const DAY_SECONDS = 86_400;
/** Repeated ones included. */
const SCOPES_SENT = 64;

/** The more there are, the fewer a job of the key can have of its own. */
export const LABELS_OF_A_KEY = 4;

const newLabels = z
  .record(z.string(), z.string())
  .superRefine((labels, context) => {
    const named = Object.entries(labels);
    if (named.length === 0 || named.length > LABELS_OF_A_KEY) {
      context.addIssue({ code: 'custom', message: `must have 1 to ${LABELS_OF_A_KEY} labels` });
      return;
    }
    for (const [key, value] of named) {
      const fault = METADATA_KEY.test(key)
        ? faultOfMetadataValue(value)
        : 'a key is 1 to 40 letters, digits, "_", "." or "-"';
      if (fault !== null) context.addIssue({ code: 'custom', path: [beginningOf(key, 80)], message: fault });
    }
  })
  .nullable();

const allowedAddresses = boundedList(z.string().trim().min(1).max(50), { max: NETWORKS_LISTED });

export const ApiKeyCreateSchema = z
  .object({
    name: recordName.meta({ description: 'What the key is for, 1 to 200 characters.' }),
    scopes: boundedList(z.enum(SCOPES), { min: 1, max: SCOPES_SENT }).optional().meta({
      description:
        'What the key may do. Absent: all that its creator may grant, and with labels of that what concerns jobs, assets and usage.',
    }),
    labels: newLabels.optional().meta({
      description:
        'Makes a sub-key, for an end user: every job that it submits carries these labels, and it finds only jobs that carry them, their ' +
        'outputs, and its own uploads. It can do nothing with the account. 1 to 4 labels; null or absent: no sub-key.',
      example: { user: 'ada' },
    }),
    allowed_addresses: allowedAddresses.optional().meta({
      description:
        'Addresses and networks from which the key may be used, beside what its account allows; empty: from anywhere. Absent: as the ' +
        'key that makes it. A key gives no more than it has.',
      example: ['203.0.113.0/24', '2001:db8::/32'],
    }),
    expires_at: expiry.meta({
      description:
        'When the key expires; null or absent means with the key that makes it, if that expires, else never.',
    }),
  })
  .meta({ id: 'ApiKeyCreate', description: 'A new API key.' });

export const ApiKeyUpdateSchema = z
  .object({
    allowed_addresses: allowedAddresses.optional().meta({
      description:
        'Addresses and networks from which the key may be used; empty: from anywhere that its account allows.',
    }),
  })
  .meta({ id: 'ApiKeyUpdate', description: 'What changes of a key. An absent field keeps its value.' });

export const ApiKeyRotateSchema = z
  .object({
    overlap_seconds: z
      .int()
      .min(0)
      .max(30 * DAY_SECONDS)
      .default(DAY_SECONDS)
      .meta({ description: 'How long the old key keeps working, in seconds, 0 to 2592000; a day by default.' }),
  })
  .meta({ id: 'ApiKeyRotate', description: 'How a key is replaced.' });

const keyShape = {
  id: z.uuid(),
  name: z.string(),
  last_four: z.string().meta({ description: 'The last four characters of the key.' }),
  scopes: z.array(z.enum(SCOPES)),
  labels: JobMetadataSchema.nullable().meta({ description: 'Of a sub-key; null for a key that is none.' }),
  status: z.enum(API_KEY_STATES).meta({ description: 'Whether the key works, and why not.' }),
  created_at: TimestampSchema,
  expires_at: TimestampSchema.nullable(),
  revoked_at: TimestampSchema.nullable().meta({
    description: 'When the key stops working; in the future while it overlaps with its successor.',
  }),
  last_used_at: TimestampSchema.nullable().meta({
    description: 'Up to half a minute late. A request that was refused for its address counts, too.',
  }),
  allowed_addresses: z.array(z.string()).meta({
    description: 'From where it may be used, beside what its account allows; empty: from anywhere.',
  }),
  expires_by_age: z.boolean().meta({
    description: 'Whether `expires_at` follows from the maximum age of keys of the account.',
  }),
  rotated_to: z.uuid().nullable().meta({ description: 'The key that replaced it.' }),
  parent_id: z.uuid().nullable().meta({
    description: 'The key that made it, and with which it ends. Null for a key made by an operator.',
  }),
  member_id: z.uuid().nullable().meta({
    description:
      'The member who made it, with whom it ends. It does no more than their role. Null for a key of the account itself.',
  }),
};

export const ApiKeySchema = z
  .object(keyShape)
  .meta({ id: 'ApiKey', description: 'An API key as it is stored: the key itself is not kept.' });

export const IssuedApiKeySchema = z
  .object({ ...keyShape, key: z.string().meta({ description: 'The key itself: shown now and never again.' }) })
  .meta({ id: 'IssuedApiKey', description: 'A newly created API key.' });

export const ApiKeyListSchema = z
  .object({ api_keys: z.array(ApiKeySchema) })
  .meta({ id: 'ApiKeyList', description: 'Keys of the account, newest first.' });
