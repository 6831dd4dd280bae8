import { Refusal } from '@millrace/contracts';

/**
 * A place in a list, as opaque text: the position after which the next page starts. `kind` names the list, so that another
 * list refuses the cursor.
 */
export function encodeCursor(kind: string, position: string): string {
  return Buffer.from(JSON.stringify([kind, position])).toString('base64url');
}

/** @throws Refusal `invalid_cursor` when the text was not made by `encodeCursor` with this kind. */
export function decodeCursor(kind: string, cursor: string, isPosition: (position: string) => boolean): string {
  try {
    const [readKind, position] = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')) as unknown[];
    if (readKind === kind && typeof position === 'string' && isPosition(position)) return position;
  } catch {
    // Not our text: refused below like every other.
  }
  throw new Refusal('invalid_cursor', 'The cursor is not one that this list returned; start again without it.');
}

/** A page of a list, and the cursor of the next; absent on the last. */
export interface Page<T> {
  items: T[];
  nextCursor?: string;
}

/**
 * A page of rows that were read with one more than fits: if it is there, there is a next page.
 *
 * @param positionOf the position of a row, for `encodeCursor`.
 */
export function pageOf<T>(kind: string, rows: T[], limit: number, positionOf: (row: T) => string): Page<T> {
  const last = rows[limit - 1];
  if (rows.length <= limit || last === undefined) return { items: rows };
  return { items: rows.slice(0, limit), nextCursor: encodeCursor(kind, positionOf(last)) };
}
