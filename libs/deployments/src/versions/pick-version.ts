import { createHash } from 'node:crypto';

/** Shares are whole percents; a finer wheel keeps the error of the remainder small. */
const WHEEL = 1_000_000;

/** Something that takes a share of the submissions, in percent. */
export interface Weighted {
  weight: number;
}

/**
 * The versions that a submission may run on, the one that it belongs to first. The same seed is given the same version as long as the
 * weights stay; over many seeds each version gets its share. A version without a share is not among them: it was taken out of use.
 */
export function pickVersions<T extends Weighted>(deploymentId: string, seed: string, versions: readonly T[]): T[] {
  const weighty = versions.filter(({ weight }) => weight > 0);
  const total = weighty.reduce((sum, { weight }) => sum + weight, 0);
  const digest = createHash('sha256').update(`${deploymentId} ${seed}`).digest();
  let left = ((digest.readUInt32BE() % WHEEL) / WHEEL) * total;
  const index = weighty.findIndex(({ weight }) => (left -= weight) < 0);
  return [...weighty.slice(index, index + 1), ...weighty.slice(0, Math.max(0, index)), ...weighty.slice(index + 1)];
}
