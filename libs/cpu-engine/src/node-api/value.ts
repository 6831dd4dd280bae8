import type { JsonNode } from '@millrace/workflow';
import { shapeText, type ImageTensor, type MaskTensor } from '../image/tensor';

/** A literal that has no type of its own: the value given to an input that accepts anything. */
interface JsonValue {
  kind: 'JSON';
  node: JsonNode;
}

/**
 * What travels along a link. Whole numbers are bigints and fractions are numbers, because to the field 1 and 1.0 are two
 * things, and because seeds have 64 bits.
 */
export type Value = ImageTensor | MaskTensor | JsonValue | string | bigint | number | boolean | null;

/** The name that a type goes by in a catalogue. */
export function typeOf(value: Value): string {
  if (value === null) return 'None';
  if (typeof value === 'object') return value.kind;
  return { string: 'STRING', bigint: 'INT', number: 'FLOAT', boolean: 'BOOLEAN' }[
    typeof value as 'string' | 'bigint' | 'number' | 'boolean'
  ];
}

/** Bytes that a value holds in memory, as far as they matter. */
export function sizeOf(value: Value): number {
  if (typeof value === 'string') return value.length * 2;
  if (value === null || typeof value !== 'object') return 8;
  return value.kind === 'JSON' ? value.node.end - value.node.start : value.data.byteLength;
}

/** Text up to this length is shown whole in a traceback. */
const SHOWN_CHARS = 80;

/** A value in a few words, for a traceback. */
export function describe(value: Value): string {
  if (value === null) return 'None';
  if (typeof value === 'string') {
    const shown = JSON.stringify(value.slice(0, SHOWN_CHARS));
    return value.length > SHOWN_CHARS ? `${shown}… (${value.length} characters)` : shown;
  }
  if (typeof value !== 'object') return String(value);
  return value.kind === 'JSON' ? value.node.kind : `${value.kind} ${shapeText(value)}`;
}
