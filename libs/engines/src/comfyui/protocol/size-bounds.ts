import { endOfString } from './lenient-json';

const MIB = 1024 * 1024;

/**
 * Of a text message, and of all that the nodes of one run report. A text output of 6 MB is the largest that was seen. Parsed, the
 * values in a text may take twenty times as much as their text.
 */
export const MAX_TEXT_BYTES = 16 * MIB;

/**
 * Of any message. The largest are pictures that nodes send over the socket alone: one of 4096 × 4096 pixels of noise is 48 MiB as a PNG.
 * Previews of samplers are 40 KiB.
 */
export const MAX_MESSAGE_BYTES = 64 * MIB;

/**
 * Of an answer in which nodes have no part. The queue repeats whole graphs, and ComfyUI takes up to 100 MiB of one; `/object_info` with
 * hundreds of node packs has tens of MiB.
 */
export const MAX_ANSWER_BYTES = 256 * MIB;

/** The nodes of a run said more than is read of them. */
export class TooLarge extends Error {
  constructor(what: string, maxBytes: number) {
    super(tooLargeMessage(what, maxBytes));
  }
}

/** @param what the question, as `GET /queue` */
export function tooLargeMessage(what: string, maxBytes: number): string {
  return `ComfyUI's answer to ${what} is larger than ${inMib(maxBytes)}.`;
}

/** `16 MiB`; what a prompt adds to a bound may not be a whole number of them. */
export function inMib(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`;
}

const QUOTE = 0x22;
/** What Python writes for a number that is no integer has no more: `-2.2250738585072014e-308`. */
const MAX_FLOAT_BYTES = 24;
const NUMBER = /-?\d[\d.eE+-]*/y;

/**
 * Bytes of a JSON text once Python has read and written it, at most: what is not ASCII becomes `\uXXXX`, a space follows each comma and
 * colon, and a number with a fraction or an exponent is written out (`1e15`: `1000000000000000.0`).
 */
export function pythonJsonBytes(json: string): number {
  let bytes = 0;
  for (let at = 0; at < json.length;) {
    const unit = json.charCodeAt(at);
    const end = unit === QUOTE ? endOfString(json, at) : endOfNumber(json, at);
    if (unit === QUOTE) bytes += stringBytes(json, at, end);
    else if (end > at) bytes += numberBytes(json, at, end);
    else bytes += unit === 0x2c || unit === 0x3a ? 2 : 1;
    at = Math.max(end, at + 1);
  }
  return bytes;
}

function stringBytes(json: string, from: number, to: number): number {
  let bytes = to - from;
  for (let at = from; at < to; at += 1) if (json.charCodeAt(at) >= 0x7f) bytes += 5;
  return bytes;
}

/** Integers, of any length, stay as they are. */
function numberBytes(json: string, from: number, to: number): number {
  const length = to - from;
  return /[.eE]/.test(json.slice(from, to)) ? Math.max(length, MAX_FLOAT_BYTES) : length;
}

/** The offset after a number; `at` where none begins. */
function endOfNumber(json: string, at: number): number {
  NUMBER.lastIndex = at;
  return NUMBER.test(json) ? NUMBER.lastIndex : at;
}
