const MICROS_OF_A_CREDIT = 1_000_000;
const NUMBER = /^-?(\d+(\.\d*)?|\.\d+)$/;
/** With a comma in place of the point it would be a thousand times as much, and half of the readers write and read it so. */
const MAY_BE_THOUSANDS = /^-?[1-9]\d{0,2}\.\d{3}$/;

const NO_NUMBER = 'Must be a number such as 3000 or 2.5: a point before the decimals, nothing between thousands.';

/** An amount as its field shows and takes it, in credits; empty where there is none. */
export function textOf(micros: number | null, unit = MICROS_OF_A_CREDIT): string {
  if (micros === null) return '';
  // Without an exponent, which no field takes.
  const text = (micros / unit).toFixed(6).replace(/\.?0+$/, '');
  return MAY_BE_THOUSANDS.test(text) ? `${text}0` : text;
}

/**
 * What a field says, as the API counts it; empty: null, and NaN where it says nothing that is sure (`faultOfAmount`).
 *
 * @param text undefined: nobody edited it, and it stays what it was.
 * @param unit of the field.
 */
export function amountOf(text: string | undefined, before: number | null, unit = MICROS_OF_A_CREDIT): number | null {
  if (text === undefined) return before;
  return faultOfAmount(text) === undefined ? signedAmountOf(text, unit) : NaN;
}

/** The same of a field that takes amounts below zero, too (`faultOfSignedAmount`). */
export function signedAmountOf(text: string, unit = MICROS_OF_A_CREDIT): number | null {
  if (text.trim() === '') return null;
  return faultOfSignedAmount(text) === undefined ? Math.round(Number(text) * unit) : NaN;
}

/**
 * Why a field says no amount that is sure. Amounts are shown as the reader's language writes them, in which a point may stand between
 * thousands, and fields take a point before the decimals alone: `3.000` is refused, and never taken for 3.
 *
 * @param text undefined: nobody edited it.
 */
export function faultOfAmount(text: string | undefined): string | undefined {
  const typed = text?.trim() ?? '';
  return typed.startsWith('-') ? NO_NUMBER : faultOfSignedAmount(typed);
}

/** The same of a field that takes amounts below zero, too. */
export function faultOfSignedAmount(text: string): string | undefined {
  const typed = text.trim();
  if (typed === '') return undefined;
  if (MAY_BE_THOUSANDS.test(typed))
    return `Could be ${typed.replace('.', '')} or ${Number(typed)}: write ${typed.replace('.', '')}, or ${typed}0.`;
  return NUMBER.test(typed) ? undefined : NO_NUMBER;
}
