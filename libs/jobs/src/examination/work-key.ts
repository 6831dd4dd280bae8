import { createHash } from 'node:crypto';

/** Hashed at a time: a call costs several times what a short line does, and all lines together may be 10 MB. */
const BATCH_CHARACTERS = 65_536;

/**
 * Names the work of a graph.
 *
 * @param work what `workOf` yields of it.
 */
export function workDigestOf(work: Iterable<string>): string {
  const hash = createHash('sha256');
  let batch = '';
  for (const line of work) {
    batch += line;
    if (batch.length < BATCH_CHARACTERS) continue;
    hash.update(batch);
    batch = '';
  }
  return hash.update(batch).digest('base64');
}

/**
 * Finds the jobs of an account that asked for the same work in the same pool: another account's run times are not shown, and another
 * pool has other machines.
 *
 * @param work what `workDigestOf` returned for the graph.
 * @returns a signed number of 64 bits.
 */
export function workKeyOf(accountId: string, poolId: string, work: string): bigint {
  return createHash('sha256').update(`${accountId} ${poolId} ${work}`).digest().readBigInt64BE();
}
