/** Micro-credits in one credit. All money is integer micro-credits, in `bigint`: a double is never part of a sum. */
export const MICROS_PER_CREDIT = 1_000_000n;

/** Micro-credits as people read them: `1.5`, `0.000001`. */
export function creditsText(micros: bigint): string {
  const sign = micros < 0n ? '-' : '';
  const size = micros < 0n ? -micros : micros;
  const fraction = String(size % MICROS_PER_CREDIT)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${sign}${size / MICROS_PER_CREDIT}${fraction === '' ? '' : `.${fraction}`}`;
}
