const DAY_MS = 86_400_000;

/** A day (UTC) as `yyyy-mm-dd`, and the moments from which and before which it is. */
export interface ExportDay {
  day: string;
  from: Date;
  to: Date;
}

/** The day of this name; null when there is none. */
export function dayOf(day: string): ExportDay | null {
  const from = new Date(`${day}T00:00:00.000Z`);
  if (Number.isNaN(from.getTime()) || nameOf(from) !== day) return null;
  return { day, from, to: new Date(from.getTime() + DAY_MS) };
}

/** The days that begin in [from, to), the latest first. */
export function daysWithin(from: Date, to: Date): ExportDay[] {
  const days: ExportDay[] = [];
  for (let at = startOf(new Date(to.getTime() - 1)); at >= startOf(from); at = new Date(at.getTime() - DAY_MS)) {
    days.push({ day: nameOf(at), from: at, to: new Date(at.getTime() + DAY_MS) });
  }
  return days;
}

const nameOf = (time: Date): string => time.toISOString().slice(0, 10);
const startOf = (time: Date): Date => new Date(Math.floor(time.getTime() / DAY_MS) * DAY_MS);
