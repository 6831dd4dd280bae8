const MICROS_OF_A_CREDIT = 1_000_000;

/** An amount as its field shows it, in credits; empty where there is none. */
export function textOf(micros: number | null, unit = MICROS_OF_A_CREDIT): string {
  return micros === null ? '' : String(micros / unit);
}

/**
 * What a field says, as the API counts it; empty: null.
 *
 * @param text undefined: nobody edited it, and it stays what it was.
 * @param unit of the field.
 */
export function amountOf(text: string | undefined, before: number | null, unit = MICROS_OF_A_CREDIT): number | null {
  if (text === undefined) return before;
  return text.trim() === '' ? null : Math.round(Number(text) * unit);
}
