import type { Caller } from '@millrace/accounts';
import type { ApiSettings } from '../api.config';

/** The fields of an asset, kept no longer than its caller's things are. */
export function keptFor<F extends { expiresInSeconds: number | null }>(
  { retentionSeconds }: Pick<Caller, 'retentionSeconds'>,
  fields: F,
  { assetRetentionSeconds }: Pick<ApiSettings, 'assetRetentionSeconds'>,
): F {
  if (retentionSeconds === undefined) return fields;
  const askedSeconds = fields.expiresInSeconds ?? assetRetentionSeconds ?? retentionSeconds;
  return { ...fields, expiresInSeconds: Math.min(askedSeconds, retentionSeconds) };
}
