import { integer, setting, type SettingsOf } from '@millrace/platform';
import { costMicros } from './price';

export const billingSettings = {
  priceMicrosPerSecond: setting(
    'PRICE_MICROS_PER_SECOND',
    'Price of a second of engine time in micro-credits, where a deployment has none of its own.',
    integer({ min: 0 }).default(1_000),
  ),
  holdMicros: setting(
    'HOLD_MICROS',
    'Micro-credits set aside when a job is submitted; at least the price of a third of MILLRACE_LEASE_SECONDS, after which a hold is extended. Unset: the price of ten minutes.',
    integer({ min: 0 }).optional(),
  ),
  holdExtensionSeconds: setting(
    'HOLD_EXTENSION_SECONDS',
    'Engine time, in seconds, by whose price the hold of a running job is extended when it is nearly used up.',
    integer({ min: 1, max: 86_400 }).default(60),
  ),
};
export type BillingSettings = SettingsOf<typeof billingSettings>;

const DEFAULT_HOLD_MS = 600_000n;

/**
 * What a submission sets aside, in micro-credits: the configured amount, else ten minutes at the job's price; nothing where
 * nothing is charged. Never less than the price of the time before a heartbeat can extend it: a charge never exceeds the hold, so a
 * job that ends before would cost less than its time, and nothing with a hold of 0.
 *
 * @param firstHeartbeatMs how long a run may take until its hold is first extended.
 */
export function holdMicrosOf(
  { holdMicros }: Pick<BillingSettings, 'holdMicros'>,
  priceMicrosPerSecond: bigint,
  firstHeartbeatMs: number,
): bigint {
  if (priceMicrosPerSecond === 0n) return 0n;
  if (holdMicros === undefined) return costMicros(DEFAULT_HOLD_MS, priceMicrosPerSecond);
  const least = costMicros(BigInt(firstHeartbeatMs), priceMicrosPerSecond);
  return BigInt(holdMicros) > least ? BigInt(holdMicros) : least;
}
