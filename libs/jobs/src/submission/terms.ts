import type { Caller } from '@millrace/accounts';
import type { AssetSettings } from '@millrace/assets';
import { holdMicrosOf, type BillingSettings } from '@millrace/billing';
import type { Target } from '@millrace/deployments';
import type { JobSettings } from '../job.settings';
import type { JobScope } from '../state';

/** On what terms an account's job is accepted. */
export interface SubmissionTerms {
  /** Jobs of the account that may wait. */
  queueLimit: number;
  /** Bytes that the account may store. */
  storageBytes: number;
  priceMicrosPerSecond: bigint;
  /** What is set aside when the job is recorded. */
  holdMicros: bigint;
}

/** The terms for a caller on a surface. Nothing costs credits on a self-hosted surface (contract, section 5). */
export function termsOf(
  { limits }: Pick<Caller, 'limits'>,
  { surface }: Pick<JobScope, 'surface'>,
  target: Pick<Target, 'priceMicrosPerSecond'>,
  settings: Pick<JobSettings, 'queueLimitPerAccount'> & BillingSettings & Pick<AssetSettings, 'storageBytesPerAccount'>,
): SubmissionTerms {
  const billed = surface !== 'self_hosted';
  return {
    queueLimit: limits.queueLimit ?? settings.queueLimitPerAccount,
    storageBytes: limits.storageBytes ?? settings.storageBytesPerAccount,
    priceMicrosPerSecond: billed ? target.priceMicrosPerSecond : 0n,
    holdMicros: billed ? holdMicrosOf(settings, target.priceMicrosPerSecond) : 0n,
  };
}
