import type { StoredBlob } from './blob';

/** A record over a blob: what customers name by its id. */
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
}

/** What a client says of an asset that it wants minted; read and checked by `readAssetFields`. */
export interface AssetFields {
  filePath: string | null;
  tags: string[];
  /** Null: as long as the platform keeps uploads. */
  expiresInSeconds: number | null;
}

/** What an upload says besides its bytes; read and checked by `readUploadFields`. */
export interface UploadFields extends AssetFields {
  contentType: string;
  /** Hash that the client computed, to be compared; null when it sent none. */
  expectedHash: string | null;
}

/** An asset as it was found or made for a request. */
export interface MintedAsset {
  asset: AssetRecord;
  /**
   * For an upload: true when no asset of the account had these bytes, which is told exactly once however many arrive at
   * once. For a mint from a hash: true when there was no identical reference.
   */
  createdNew: boolean;
}
