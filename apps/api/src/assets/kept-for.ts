import type { Caller } from '@millrace/accounts';
import type { AssetFields } from '@millrace/assets';
import type { ApiSettings } from '../api.config';

/** The fields of an asset for its caller: those of a sub-key belong to its labels, and none is kept longer than its caller's things are. */
export function keptFor<F extends Pick<AssetFields, 'expiresInSeconds' | 'labels'>>(
  { labels, retentionSeconds }: Pick<Caller, 'labels' | 'retentionSeconds'>,
  read: F,
  { assetRetentionSeconds }: Pick<ApiSettings, 'assetRetentionSeconds'>,
): F {
  const fields = { ...read, labels };
  if (retentionSeconds === undefined) return fields;
  const askedSeconds = fields.expiresInSeconds ?? assetRetentionSeconds ?? retentionSeconds;
  return { ...fields, expiresInSeconds: Math.min(askedSeconds, retentionSeconds) };
}
