import type { JobMetadata } from '@millrace/contracts';
import type { BlobDamage, StoredBlob } from './blob';

/** A record over a blob, which customers refer to by its id. */
export interface AssetRecord {
  id: string;
  accountId: string;
  /** The job that produced it; null for uploads. */
  jobId: string | null;
  contentType: string;
  filePath: string | null;
  tags: string[];
  createdAt: Date;
  /** Null: never. */
  expiresAt: Date | null;
  blob: StoredBlob;
  /** What is known to be wrong with its bytes; null: nothing. */
  damage: BlobDamage | null;
}

/** The fields of a request for an asset, as `readMintFields` checked them. */
export interface AssetFields {
  filePath: string | null;
  tags: string[];
  /** Of the sub-key that makes it; null: it belongs to the account alone. */
  labels: JobMetadata | null;
  /** Null: as long as the service keeps uploads. */
  expiresInSeconds: number | null;
}

/** The fields of an upload beside its bytes, as `readUploadFields` checked them. */
export interface UploadFields extends AssetFields {
  contentType: string;
  /** Hash that the client computed, to be compared; null when it sent none. */
  expectedHash: string | null;
}

/** An asset as it was found or made for an upload. */
export interface MintedAsset {
  asset: AssetRecord;
  /** True when no asset of the account had these bytes; of any number of equal uploads at once it is true for exactly one. */
  createdNew: boolean;
}
