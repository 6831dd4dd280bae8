/**
 * What the fields of a deployment may be at least and at most, by their names in requests: the API's check, the flags of the command line
 * and the console's forms follow from this list. How many workers an account may have in all is one of `ACCOUNT_LIMITS`.
 */
export const DEPLOYMENT_LIMITS = {
  min_workers: { least: 0, most: 10_000 },
  max_workers: { least: 1, most: 10_000 },
  idle_seconds: { least: 0, most: 604_800 },
  queue_limit: { least: 1, most: 2_000_000_000 },
  attempt_limit_seconds: { least: 1, most: 31_536_000 },
  price_micros_per_second: { least: 0, most: 1_000_000_000_000 },
} as const;
