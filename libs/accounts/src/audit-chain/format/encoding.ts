/** Stands where the length of a field is; no field is so long. */
const NULL_FIELD = Buffer.from([0xff, 0xff, 0xff, 0xff]);

/**
 * Fields as bytes, each behind its length (four bytes, the highest first), null as the length -1. No two lists of fields have the same
 * bytes, so a hash of them is a hash of the fields. PostgreSQL has the same encoding: function `audit_encoded`.
 *
 * @param fields well-formed texts, which all texts of PostgreSQL are.
 */
export function encoded(fields: readonly (string | null)[]): Buffer {
  return Buffer.concat(fields.flatMap(bytesOf));
}

function bytesOf(field: string | null): Buffer[] {
  if (field === null) return [NULL_FIELD];
  const bytes = Buffer.from(field, 'utf8');
  const length = Buffer.alloc(4);
  length.writeInt32BE(bytes.length);
  return [length, bytes];
}
