import { members, type JsonNode } from '@millrace/workflow';

/** `str(x)` of a float: the shortest digits that read back as x, always with a point or an exponent. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  const sign = Object.is(value, -0) ? '-' : '';
  if (exponent < -4 || exponent >= 16)
    return `${sign}${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`;
  const digits = mantissa.replace(/[-.]/g, '');
  const whole = exponent < 0 ? '0' : digits.slice(0, exponent + 1).padEnd(exponent + 1, '0');
  const fraction = exponent < 0 ? '0'.repeat(-exponent - 1) + digits : digits.slice(exponent + 1);
  return `${value < 0 ? '-' : sign}${whole}.${fraction || '0'}`;
}

/** What `json.loads` followed by `str` makes of a number's text. */
function numberText(raw: string): string {
  return /[.eE]/.test(raw) ? floatText(Number(raw)) : String(BigInt(raw));
}

export function booleanText(value: boolean): string {
  return value ? 'True' : 'False';
}

/** `str(x)` of what `json.loads` makes of the value. */
export function strOf(node: JsonNode): string {
  return node.kind === 'string' ? node.value : reprOf(node);
}

/** `repr(x)` of what `json.loads` makes of the value. */
export function reprOf(node: JsonNode): string {
  switch (node.kind) {
    case 'null':
      return 'None';
    case 'boolean':
      return booleanText(node.value);
    case 'number':
      return numberText(node.raw);
    case 'string':
      return quoted(node.value);
    case 'array':
      return `[${node.items.map(reprOf).join(', ')}]`;
    case 'object':
      return `{${[...members(node)].map(([key, value]) => `${quoted(key)}: ${reprOf(value)}`).join(', ')}}`;
  }
}

/** `json.dumps(x)`: ASCII, with a space after commas and colons. */
export function dumped(node: JsonNode): string {
  switch (node.kind) {
    case 'null':
      return 'null';
    case 'boolean':
      return String(node.value);
    case 'number':
      return dumpedNumber(numberText(node.raw));
    case 'string':
      return asciiString(node.value);
    case 'array':
      return `[${node.items.map(dumped).join(', ')}]`;
    case 'object':
      return `{${[...members(node)].map(([key, value]) => `${asciiString(key)}: ${dumped(value)}`).join(', ')}}`;
  }
}

function dumpedNumber(text: string): string {
  return text.replace('inf', 'Infinity').replace('nan', 'NaN');
}

function asciiString(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\uffff]/g, escapeUnit);
}

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A string literal: single quotes unless it holds such and no double ones; what can not be printed is escaped. */
function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const body = [...text].map((character) => (character === quote ? `\\${quote}` : escaped(character))).join('');
  return quote + body + quote;
}

const SHORT_ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

function escaped(character: string): string {
  const short = SHORT_ESCAPES[character];
  if (short) return short;
  if (character === ' ' || !/[\p{C}\p{Z}]/u.test(character)) return character;
  const code = character.codePointAt(0) as number;
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`;
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\U${code.toString(16).padStart(8, '0')}`;
}
