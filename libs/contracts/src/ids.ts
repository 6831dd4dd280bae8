import { v7 } from 'uuid';

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

/** True when `text` is a UUID of any version. No record of ours has another id. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
