/** A random integer from 0 to `max`, which has up to 64 bits, as text. */
export function randomSeed(max: string | undefined): string {
  const words = crypto.getRandomValues(new BigUint64Array(1));
  const limit = max !== undefined && /^\d+$/.test(max) ? BigInt(max) : 2n ** 32n - 1n;
  return String((words[0] ?? 0n) % (limit + 1n));
}
