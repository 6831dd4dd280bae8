/** The record of an account's bytes of one content. */
export interface BlobRef {
  accountId: string;
  /** `blake3:<hex>`. */
  hash: string;
  /**
   * When this record was made. It distinguishes one life of the blob from the next: content that was swept and uploaded
   * again has another key, so that a late deletion never removes the new bytes.
   */
  bornAt: Date;
}

/** A blob whose bytes were seen under its key. Only from such a blob is an asset minted. */
export interface StoredBlob extends BlobRef {
  sizeBytes: number;
}

/**
 * What is wrong with a blob's bytes, as far as anyone has looked. `lost`: none of its size lie under its key; that heals when they are
 * there again. `rotten`: they have another hash.
 */
export type BlobDamage = 'lost' | 'rotten';

/** Since when each is known; null: it is not. */
export interface BlobMarks {
  lostAt: Date | null;
  damagedAt: Date | null;
}

/** @returns null for bytes of which nothing bad is known. */
export function damageOf({ lostAt, damagedAt }: BlobMarks): BlobDamage | null {
  if (damagedAt !== null) return 'rotten';
  return lostAt === null ? null : 'lost';
}

/** `live`: assets refer to it. `orphaned`: none does. `condemned`: its bytes are being deleted, and no asset is minted from it. */
export type BlobState = 'live' | 'orphaned' | 'condemned';

/**
 * The key of a blob's bytes: by account, so that no tenant can learn of another's bytes, and spread over 256 folders.
 */
export function blobKey({ accountId, hash, bornAt }: BlobRef): string {
  const hex = hash.slice('blake3:'.length);
  return `${accountId}/${hex.slice(0, 2)}/${hex}-${bornAt.getTime().toString(36)}`;
}

const KEY = /^([0-9a-f-]{36})\/[0-9a-f]{2}\/([0-9a-f]{64})-([0-9a-z]+)$/;

/** The blob that a key names; null when the key was not made by `blobKey`. */
export function blobOfKey(key: string): BlobRef | null {
  const [, accountId, hex, born] = KEY.exec(key) ?? [];
  if (accountId === undefined || hex === undefined || born === undefined) return null;
  const blob = { accountId, hash: `blake3:${hex}`, bornAt: new Date(Number.parseInt(born, 36)) };
  return !Number.isNaN(blob.bornAt.getTime()) && blobKey(blob) === key ? blob : null;
}
