/** Micro-credits in one credit. */
const MICROS_PER_CREDIT = 1_000_000n;
/** Of days to come: what is further away is a date for people, not a number of days. */
const DAYS_COUNTED = 90;

/** A length of time for people: `870 ms`, `4.2 s`, `1 min 05 s`, `2 h 10 min`. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${pad(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${pad(Math.floor(seconds / 60) % 60)} min`;
}

/** A time that is still running: whole seconds, so that a redrawn line does not flicker. */
export function elapsed(ms: number): string {
  return ms < 60_000 ? `${Math.floor(Math.max(0, ms) / 1000)} s` : duration(ms);
}

/** A size in decimal units: `812 B`, `24.1 kB`, `3.2 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let value = bytes / 1000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 99.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** Micro-credits as credits, exactly: 6400 is `0.0064`. */
export function credits(micros: number): string {
  const whole = BigInt(Math.trunc(micros));
  const amount = whole < 0n ? -whole : whole;
  const fraction = (amount % MICROS_PER_CREDIT).toString().padStart(6, '0').replace(/0+$/, '');
  return `${whole < 0n ? '-' : ''}${amount / MICROS_PER_CREDIT}${fraction ? `.${fraction}` : ''}`;
}

/** How long ago a timestamp was: `now`, `12 s ago`, `3 h ago`, `5 d ago`. */
export function age(timestamp: string, nowMs: number): string {
  const seconds = Math.floor((nowMs - Date.parse(timestamp)) / 1000);
  if (!Number.isFinite(seconds)) return timestamp;
  return seconds < 1 ? 'now' : `${rounded(seconds)} ago`;
}

/** When a timestamp is, from now: its age, or `in 3 h`, `in 6 d`; the day, in UTC, of what is more than 90 days away: `2030-01-31`. */
export function moment(timestamp: string, nowMs: number): string {
  const seconds = Math.floor((Date.parse(timestamp) - nowMs) / 1000);
  if (!(seconds >= 1)) return age(timestamp, nowMs);
  return seconds > DAYS_COUNTED * 86_400 ? timestamp.slice(0, 10) : `in ${rounded(seconds)}`;
}

function rounded(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

/** `1 node`, `3 nodes`. */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`;
}

function pad(value: number): string {
  return String(value).padStart(2, '0');
}
