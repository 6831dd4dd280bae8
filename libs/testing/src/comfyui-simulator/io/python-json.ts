/** Text that stands in JSON as it is: what JavaScript has no value for. */
export class RawJson {
  constructor(readonly text: string) {}
}

/** JSON as Python's `json.dumps` writes it: `NaN` and `Infinity` included, spaces after commas and colons. */
export function toPythonJson(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (value === undefined || value === null) return 'null';
  if (typeof value === 'number') return Number.isNaN(value) ? 'NaN' : String(value);
  if (Array.isArray(value)) return `[${value.map(toPythonJson).join(', ')}]`;
  if (typeof value !== 'object') return escapeNonAscii(JSON.stringify(value));
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([key, member]) => `${toPythonJson(key)}: ${toPythonJson(member)}`).join(', ')}}`;
}

function escapeNonAscii(text: string): string {
  return text.replace(/[\u0080-\uffff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
