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

/** The server said more than is read of it. */
export class TooLarge extends Error {
  constructor(what: string, maxBytes: number) {
    super(`ComfyUI's answer to ${what} is larger than ${inMib(maxBytes)}.`);
  }
}

/** `16 MiB`; what a prompt adds to a bound may not be a whole number of them. */
export function inMib(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`;
}

/**
 * Bytes of a JSON text once Python has read and written it, at most: what is not ASCII becomes `\uXXXX`, and a space follows each comma
 * and colon.
 */
export function pythonJsonBytes(json: string): number {
  let bytes = 0;
  for (let at = 0; at < json.length; at += 1) {
    const unit = json.charCodeAt(at);
    if (unit > 0x7f) bytes += 6;
    else bytes += unit === 0x2c || unit === 0x3a ? 2 : 1;
  }
  return bytes;
}
