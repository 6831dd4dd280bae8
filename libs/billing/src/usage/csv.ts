/**
 * A table as CSV (RFC 4180). Text that a spreadsheet would run as a formula gets an apostrophe in front: labels are written by
 * callers, and others open the file.
 */
export function csvText(header: readonly string[], rows: readonly (string | number | bigint | null)[][]): string {
  return csvRows([header, ...rows]);
}

/** Rows of such a table. */
export function csvRows(rows: readonly (readonly (string | number | bigint | null)[])[]): string {
  return rows.map((row) => `${row.map(fieldOf).join(',')}\r\n`).join('');
}

const FORMULA = /^[\s]*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

function fieldOf(value: string | number | bigint | null): string {
  if (value === null) return '';
  if (typeof value !== 'string') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n\t]|^'|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
