import { IDEMPOTENCY_KEY } from '@millrace/contracts';
import { UsageFailure } from '../../process';

/**
 * Reads the text of a flag or an argument. `name` is its name on the command line, such as `--weight`.
 *
 * @throws {UsageFailure} that names it and says what to give.
 */
export type ReadValue<T = unknown> = (text: string, name: string) => T;

/** Sets a limit back to the service's default. */
const DEFAULT_LIMIT = 'default';

const MICROS_PER_CREDIT = 1_000_000;

/** The parser of a flag that may be given several times. */
export function collect(value: string, earlier: string[] = []): string[] {
  return [...earlier, value];
}

/** The parser of one flag, as commander takes it. */
export function parserOf<T>(flag: string, read: ReadValue<T>): (text: string) => T {
  return (text) => read(text, flag);
}

/** A whole number from `min` to `max`. @param unit what it counts, where the flag does not say it. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER, unit?: string): ReadValue<number> {
  return (text, name) => {
    if (isWholeNumber(text, min, max)) return Number(text);
    throw invalid(text, name, `Give a whole number ${unit ? `of ${unit} ` : ''}${rangeOf(min, max)}.`);
  };
}

/** A whole number from `min` to `max`, or `default`, which is null on the wire. */
export function limitOrDefault(min: number, max = Number.MAX_SAFE_INTEGER): ReadValue<number | null> {
  return (text, name) => {
    if (text === DEFAULT_LIMIT) return null;
    if (isWholeNumber(text, min, max)) return Number(text);
    const cure = `Give a whole number ${rangeOf(min, max)}, or \`${DEFAULT_LIMIT}\` for the service's own limit.`;
    throw invalid(text, name, cure);
  };
}

export function oneOf(choices: readonly string[]): ReadValue<string> {
  return (text, name) => {
    if (choices.includes(text)) return text;
    throw invalid(text, name, `Give one of ${choices.join(', ')}.`);
  };
}

/** A day, or a time with its zone (RFC 3339, section 5.6): `Date` alone reads more, and guesses what it means. */
const DAY_OR_TIME = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}:\d{2})(\.\d+)?(Z|[+-]\d{2}:\d{2}))?$/;

/** A day, which is its beginning in UTC, or a time with its zone, as RFC 3339 in UTC. */
export function timestamp(text: string, name: string): string {
  const [, day = '', time = '00:00:00', fraction = '', zone = 'Z'] = DAY_OR_TIME.exec(text.toUpperCase()) ?? [];
  const moment = new Date(`${day}T${time}${fraction}${zone}`);
  // `Date` takes 30 February for a day of March.
  if (isOfCalendar(`${day}T${time}`) && !Number.isNaN(moment.getTime())) return moment.toISOString();
  throw invalid(
    text,
    name,
    'Give a day such as 2030-01-31 (UTC), or a time with its zone such as 2030-01-31T12:00:00Z.',
  );
}

/** @param text without a zone, to the second. */
function isOfCalendar(text: string): boolean {
  const moment = new Date(`${text}Z`);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(text);
}

export function webAddress(text: string, name: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw invalid(text, name, 'Give an http or https URL.');
}

/** Credits in micro-credits, exactly, and more than none: `2.5` is 2500000. */
export function creditMicros(text: string, name: string): number {
  return microsOf(text) ?? refuseAmount(text, name, '.');
}

/** Credits in micro-credits, exactly: `-2.5` is -2500000 and takes credits back. */
export function signedCreditMicros(text: string, name: string): number {
  const micros = microsOf(text.replace(/^-/, '')) ?? refuseAmount(text, name, '; a negative one takes credits back.');
  return text.startsWith('-') ? -micros : micros;
}

/** Credits in micro-credits, none of them included: `0` and `2.5` are 0 and 2500000. */
export function creditLimit(text: string, name: string): number {
  return text === '0' ? 0 : (microsOf(text) ?? refuseAmount(text, name, ', or 0 for none.'));
}

/** @returns null for what is no amount above zero, exact to a micro-credit */
function microsOf(text: string): number | null {
  const [, whole = '', fraction = ''] = /^(\d{1,9})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  return Number(whole) * MICROS_PER_CREDIT + Number(fraction.padEnd(6, '0')) || null;
}

function refuseAmount(text: string, name: string, more: string): never {
  throw invalid(text, name, `Give an amount of credits such as 25 or 0.5${more}`);
}

/** @throws {UsageFailure} */
export function idempotencyKey(text: string): string {
  if (IDEMPOTENCY_KEY.test(text)) return text;
  throw invalid(
    text,
    '--idempotency-key',
    'Give 1 to 255 printable ASCII characters, such as a UUID, with no space at its ends.',
  );
}

function invalid(text: string, name: string, cure: string): UsageFailure {
  return new UsageFailure(`${name} ${JSON.stringify(text)} is not valid.`, cure);
}

function isWholeNumber(text: string, min: number, max: number): boolean {
  return /^\d{1,16}$/.test(text) && Number(text) >= min && Number(text) <= max;
}

function rangeOf(min: number, max: number): string {
  return max === Number.MAX_SAFE_INTEGER ? `from ${min} up` : `from ${min} to ${max}`;
}
