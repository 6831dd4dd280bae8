import { v7 } from 'uuid';
import { z } from 'zod';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/**
 * A new record id: a version 7 UUID (RFC 9562), so that ids sort by creation time and index inserts stay local. Jobs have ids
 * of PostgreSQL's clock instead, because they run in the order of their ids.
 */
export function newId(): string {
  return v7();
}

/** When a record was made, in milliseconds since the epoch, read from its id (RFC 9562, section 5.7). */
export function createdAtOf(id: string): number {
  return parseInt(id.replace('-', '').slice(0, 12), 16);
}

/** The lowest id that a record made at this time, in milliseconds since the epoch, can have: ids sort by time. */
export function lowestIdAt(timeMs: number): string {
  const time = Math.max(0, timeMs).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** True when `text` is a UUID of any version. No record of ours has another id. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** A date and time with a zone, as every timestamp on the wire: RFC 3339 in UTC, `2026-11-21T06:23:00.000Z`. */
export const TimestampSchema = z.iso.datetime({ offset: true });
