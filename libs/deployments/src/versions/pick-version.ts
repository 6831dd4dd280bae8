import { createHash } from 'node:crypto';

/** Shares are whole percents; a finer wheel keeps the error of the remainder small. */
const WHEEL = 1_000_000;

/** A version with its number, and the share of the submissions that it takes, in percent. */
export interface Weighted {
  version: number;
  weight: number;
}

/**
 * The versions that a submission may run on, the one that it belongs to first. The same seed is given the same version as long as the
 * weights stay; over many seeds each version gets its share. An older version without a share is the last: it takes what the newer one cannot
 * take yet. A newer one without a share is not among them: it was rolled back, and `RetiredPoolStore` of `libs/jobs` has its jobs move on.
 */
export function pickVersions<T extends Weighted>(deploymentId: string, seed: string, versions: readonly T[]): T[] {
  const weighty = versions.filter(({ weight }) => weight > 0);
  const newest = Math.max(...versions.map(({ version }) => version));
  const older = versions.filter(({ weight, version }) => weight === 0 && version < newest);
  const total = weighty.reduce((sum, { weight }) => sum + weight, 0);
  const digest = createHash('sha256').update(`${deploymentId} ${seed}`).digest();
  let left = ((digest.readUInt32BE() % WHEEL) / WHEEL) * total;
  const index = weighty.findIndex(({ weight }) => (left -= weight) < 0);
  const others = [...weighty.slice(0, Math.max(0, index)), ...weighty.slice(index + 1)];
  return [...weighty.slice(index, index + 1), ...others, ...older];
}
