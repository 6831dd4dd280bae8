import { age, credits, moment } from './format';
import type { Palette } from './palette';
import { type Cell, tableLines } from './table';

/** How records are shown. */
export interface RecordView {
  nowMs: number;
  /** On a terminal all times are said from now; elsewhere those to come are exact. */
  onTerminal: boolean;
  /** Fields that come first, the most important ones; the others follow as the service has them. */
  first?: readonly string[];
}

/** Records of the service as a table: a column per field that any of them has, in the order of their first appearance. */
export function recordTable(
  records: Record<string, unknown>[],
  { nowMs, onTerminal, first = [] }: RecordView,
): { titles: string[]; rows: Cell[][] } {
  const found = new Set(records.flatMap((record) => Object.keys(record)));
  const fields = [...new Set([...first.filter((field) => found.has(field)), ...found])];
  const cellOf = (field: string, value: unknown): Cell =>
    onTerminal && isTime(field, value) ? moment(value, nowMs) : shown(field, value, nowMs);
  return {
    titles: fields.map(titleOf),
    rows: records.map((record) => fields.map((field) => cellOf(field, record[field]))),
  };
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

function isTime(field: string, value: unknown): value is string {
  return typeof value === 'string' && /(?:^|_)at$/.test(field);
}

function shown(field: string, value: unknown, nowMs: number): Cell {
  if (value === null || value === undefined) return '–';
  if (typeof value === 'number' && field.endsWith('_micros')) return { text: credits(value), align: 'right' };
  if (typeof value === 'number') return { text: String(value), align: 'right' };
  if (typeof value === 'string') return field.endsWith('_at') && Date.parse(value) <= nowMs ? age(value, nowMs) : value;
  if (isTexts(value)) return value.join(' ') || '–';
  if (typeof value === 'object' && !Array.isArray(value)) return pairs(Object.entries(value)) || '–';
  return JSON.stringify(value);
}

/** Such as labels: `user=ada team=north`. */
function pairs(entries: [string, unknown][]): string {
  return entries.map(([key, value]) => `${key}=${inPair(isTexts(value) ? value.join(',') : value)}`).join(' ');
}

function inPair(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
