import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import type { InputContent } from '@millrace/assets';
import { VERSION } from '@millrace/platform';
import { scopeText, type JobScope } from '../state';

/** What decides beside the graph. */
export interface ReusePlace {
  scope: JobScope;
  poolId: string;
  /** Names the version of the pool's catalogue. */
  catalogueDigest: string;
}

/**
 * Names exactly what a submission asks for, and of whom: equal keys have equal outputs. Of another account, labels of a sub-key, surface, deployment, pool,
 * catalogue or version of the service it is another key. All 256 bits of the hash: a key that two graphs share would give one the
 * outputs of the other.
 *
 * @param digest of the graph; see `ExactWork`.
 * @param inputs its files, in the order of the graph's canonical text.
 */
export function reuseKeyOf(
  { scope, poolId, catalogueDigest }: ReusePlace,
  digest: string,
  inputs: readonly InputContent[],
): Buffer {
  // A node sees the extension of a file, and a file is read by its content type.
  const files = inputs.map(({ hash, contentType, filePath }) => [
    hash,
    contentType,
    extname(filePath ?? '').toLowerCase(),
  ]);
  const place = [scopeText(scope), poolId, catalogueDigest, VERSION];
  return createHash('sha256')
    .update(JSON.stringify([place, digest, files]))
    .digest();
}
