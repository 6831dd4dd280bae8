import { createHash } from 'node:crypto';

/**
 * Names the work of a graph.
 *
 * @param work what `workOf` yields of it.
 */
export function workDigestOf(work: Iterable<string>): string {
  const hash = createHash('sha256');
  for (const line of work) hash.update(line);
  return hash.digest('base64');
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
