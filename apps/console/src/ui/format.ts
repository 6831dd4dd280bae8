const MICROS_PER_CREDIT = 1_000_000;
const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'] as const;
const UNIT_STEP = 1000;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A size for people: `1.4 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= UNIT_STEP && unit < UNITS.length - 1) {
    value /= UNIT_STEP;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** A duration for people: `840 ms`, `12.4 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < MINUTE_MS) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min ${Math.floor((ms % MINUTE_MS) / 1_000)} s`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h ${Math.floor((ms % HOUR_MS) / MINUTE_MS)} min`;
  return `${Math.floor(ms / DAY_MS)} d ${Math.floor((ms % DAY_MS) / HOUR_MS)} h`;
}

/** How long ago, or how far ahead: `just now`, `12 s ago`, `in 3 h`. */
export function formatAgo(at: number, now: number): string {
  const ms = now - at;
  const apart = Math.abs(ms);
  if (apart < 5_000) return 'just now';
  const text =
    apart < MINUTE_MS
      ? `${Math.floor(apart / 1_000)} s`
      : apart < HOUR_MS
        ? `${Math.floor(apart / MINUTE_MS)} min`
        : apart < DAY_MS
          ? `${Math.floor(apart / HOUR_MS)} h`
          : `${Math.floor(apart / DAY_MS)} d`;
  return ms > 0 ? `${text} ago` : `in ${text}`;
}

const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A time in the reader's zone, to the second. */
export const formatTime = (at: number): string => EXACT.format(at);

/** Micro-credits as credits: two digits, or four or six where an amount would not show in fewer. */
export function formatCredits(micros: number): string {
  const credits = micros / MICROS_PER_CREDIT;
  const size = Math.abs(credits);
  const digits = size >= 1 || size === 0 ? 2 : size >= 0.001 ? 4 : 6;
  return credits.toLocaleString(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const EXACT_CREDITS = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 6 });

/** Micro-credits as credits, to the last digit: what stands in books. */
export const formatExactCredits = (micros: number): string => EXACT_CREDITS.format(micros / MICROS_PER_CREDIT);

const PRICE = new Intl.NumberFormat(undefined, { maximumFractionDigits: 6 });

/** The price of a second of engine time, in micro-credits, as credits: `0.0001 credits a second`, or `free`. */
export function formatPrice(microsPerSecond: number): string {
  return microsPerSecond === 0 ? 'free' : `${PRICE.format(microsPerSecond / MICROS_PER_CREDIT)} credits a second`;
}

/** An id's two ends: ids of one moment begin alike. */
export const shortId = (id: string): string => `${id.slice(0, 8)}…${id.slice(-4)}`;

/** A word as it stands at the beginning of a line. */
export const capital = (word: string): string => `${word.charAt(0).toUpperCase()}${word.slice(1)}`;
