import { ACCOUNT_LIMITS, type AccountLimitName } from '@millrace/contracts';

/** An account's limits; null means the service's default. */
export type AccountLimits = Record<AccountLimitName, number | null> & {
  /** Its share in the pools' rotation; 1 is a single share. */
  weight: number;
};

type StoredLimits = Record<AccountLimitName, number | bigint | null> & { weight: number };

/** The limits among the fields of a row. */
export function limitsOf(row: StoredLimits): AccountLimits {
  return limitsBy((name) => (row[name] === null ? null : Number(row[name])), row.weight);
}

/** The limits of an account that has none of its own. */
export const DEFAULT_LIMITS: AccountLimits = limitsBy(() => null, 1);

function limitsBy(value: (name: AccountLimitName) => number | null, weight: number): AccountLimits {
  const limits = Object.fromEntries(ACCOUNT_LIMITS.map(({ name }) => [name, value(name)]));
  return { ...(limits as Record<AccountLimitName, number | null>), weight };
}
