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
    'Micro-credits set aside when a job is submitted, at least 1. Unset: the price of ten minutes.',
    integer({ min: 1 }).optional(),
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
 * What a submission sets aside, in micro-credits: the configured amount, else ten minutes at the job's price; nothing exactly where
 * nothing is charged. By this caps and credits know the jobs that cost nothing.
 */
export function holdMicrosOf(settings: Pick<BillingSettings, 'holdMicros'>, priceMicrosPerSecond: bigint): bigint {
  if (priceMicrosPerSecond === 0n) return 0n;
  return settings.holdMicros === undefined
    ? costMicros(DEFAULT_HOLD_MS, priceMicrosPerSecond)
    : BigInt(settings.holdMicros);
}
