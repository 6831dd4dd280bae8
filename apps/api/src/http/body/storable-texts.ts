import type { FieldError } from '@millrace/contracts';

/** PostgreSQL stores neither, in a text or in JSON. */
const UNSTORABLE = /[\0\p{Cs}]/u;
/** Graphs are kept as the text that was sent, in which an escape stays an escape. A cursor is decoded, and has an error of its own. */
const KEPT_OTHERWISE: ReadonlySet<string> = new Set(['workflow', 'warm_up', 'cursor']);
const UNSTORABLE_REASON = 'has a character that cannot be stored: NUL, or half of a surrogate pair';

/**
 * The fields of a body or query whose texts, or names, PostgreSQL cannot store; graphs and cursors are no part of it. Without recursion: a document
 * of 60 KB may be 30,000 arrays deep.
 */
export function unstorableFields(document: unknown): FieldError[] {
  const faults: FieldError[] = [];
  const pending = [{ field: '', value: document }];
  for (const { field, value } of pending) {
    if (typeof value === 'string') {
      if (UNSTORABLE.test(value)) faults.push({ field, reason: UNSTORABLE_REASON });
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) {
        const path = field === '' ? name : `${field}.${name}`;
        if (UNSTORABLE.test(name)) faults.push({ field: path, reason: UNSTORABLE_REASON });
        else if (field !== '' || !KEPT_OTHERWISE.has(name)) pending.push({ field: path, value: inner });
      }
    }
  }
  return faults;
}
