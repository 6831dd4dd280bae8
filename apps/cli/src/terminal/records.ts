import { age, credits } from './format';
import type { Palette } from './palette';
import { type Cell, tableLines } from './table';

/** Records of the service as a table: a column per field that any of them has, in the order of their first appearance. */
export function recordLines(records: Record<string, unknown>[], nowMs: number, paint: Palette, none: string): string[] {
  if (records.length === 0) return [`  ${paint.faint(none)}`];
  const fields = [...new Set(records.flatMap((record) => Object.keys(record)))];
  const title = fields.map((field): Cell => {
    const isNumber = records.some((record) => typeof record[field] === 'number');
    return { text: titleOf(field), style: paint.faint, align: isNumber ? 'right' : undefined };
  });
  return tableLines([title, ...records.map((record) => fields.map((field) => shown(field, record[field], nowMs)))]);
}

/** One record, a field a line; figures of different kinds are not aligned with each other. */
export function factLines(record: Record<string, unknown>, nowMs: number, paint: Palette): string[] {
  return tableLines(
    Object.entries(record).map(([field, value]) => [
      { text: titleOf(field), style: paint.faint },
      { ...asCell(shown(field, value, nowMs)), align: undefined },
    ]),
  );
}

function asCell(cell: Cell): Exclude<Cell, string> {
  return typeof cell === 'string' ? { text: cell } : cell;
}

/** `available_micros` is shown in credits, so its title says so. */
function titleOf(field: string): string {
  return field.replace(/_micros$/, ' credits').replaceAll('_', ' ');
}

function shown(field: string, value: unknown, nowMs: number): Cell {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'number' && field.endsWith('_micros')) return { text: credits(value), align: 'right' };
  if (typeof value === 'number') return { text: String(value), align: 'right' };
  if (typeof value === 'string') return field.endsWith('_at') && Date.parse(value) <= nowMs ? age(value, nowMs) : value;
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value.join(' ') || '–';
  return JSON.stringify(value);
}
