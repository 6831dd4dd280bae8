import type { BlobStoreError, BlobStoreFault } from '@millrace/assets';

const REASONS: Record<BlobStoreFault, string> = {
  full: 'the blob store is full',
  too_large: 'it is larger than the blob store takes',
  missing: 'the blob store does not have its bytes',
  denied: 'the blob store refuses this service',
  unreachable: 'the blob store does not answer',
  failed: 'the blob store failed',
};

/** Why bytes could not be read or stored, as a part of a sentence for the job's owner; the log has the rest. */
export function storeReasonOf({ fault }: BlobStoreError): string {
  return REASONS[fault];
}
