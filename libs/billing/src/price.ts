/** Micro-credits in one credit. All money is integer micro-credits, in `bigint`: a double is never part of a sum. */
export const MICROS_PER_CREDIT = 1_000_000n;

/**
 * What engine time costs, rounded up to the next micro-credit.
 *
 * @param billableMs whole milliseconds of engine time.
 * @param priceMicrosPerSecond price snapshot of the job.
 */
export function costMicros(billableMs: bigint, priceMicrosPerSecond: bigint): bigint {
  return (billableMs * priceMicrosPerSecond + 999n) / 1000n;
}
