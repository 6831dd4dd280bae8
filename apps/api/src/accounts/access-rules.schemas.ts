import { z } from 'zod';
import { NETWORKS_LISTED, type AccessRules } from '@millrace/accounts';
import { boundedList } from '@millrace/contracts';

const HOUR_SECONDS = 3_600;
const YEARS_SECONDS = 10 * 365 * 86_400;

const ADDRESSES =
  'Addresses and networks from which the keys and sessions of the account may be used; empty: from anywhere.';
const MAX_AGE = 'The age at which a key ends, in seconds; null: at none.';

export const AccessRulesSchema = z
  .object({
    allowed_addresses: z.array(z.string()).meta({ description: ADDRESSES }),
    key_max_age_seconds: z.int().nullable().meta({ description: MAX_AGE }),
  })
  .meta({ id: 'AccessRules', description: 'From where, and until which age, keys of the account may be used.' });

export const AccessRulesUpdateSchema = z
  .object({
    allowed_addresses: boundedList(z.string().trim().min(1).max(50), { max: NETWORKS_LISTED })
      .optional()
      .meta({ description: ADDRESSES }),
    key_max_age_seconds: z
      .int()
      .min(HOUR_SECONDS)
      .max(YEARS_SECONDS)
      .nullable()
      .optional()
      .meta({ description: MAX_AGE }),
  })
  .meta({ id: 'AccessRulesUpdate', description: 'What changes of the rules. An absent field keeps its value.' });

/** What the rules look like on the wire. */
export function presentAccessRules(rules: AccessRules): z.output<typeof AccessRulesSchema> {
  return { allowed_addresses: rules.allowedAddresses, key_max_age_seconds: rules.keyMaxAgeSeconds };
}

/** The changes that a request asks for. */
export function accessChangesOf(body: z.output<typeof AccessRulesUpdateSchema>): Partial<AccessRules> {
  const { allowed_addresses: allowedAddresses, key_max_age_seconds: keyMaxAgeSeconds } = body;
  return {
    ...(allowedAddresses !== undefined && { allowedAddresses }),
    ...(keyMaxAgeSeconds !== undefined && { keyMaxAgeSeconds }),
  };
}
