import { Refusal } from '@millrace/contracts';

/** Far deeper than anything that workers send. */
const MAX_DEPTH = 64;

const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Read JSON. An empty text is an empty object.
 *
 * @param maxValues of how many values it may be made: parsed, the smallest take thirty times their bytes.
 * @throws Refusal `invalid_request`.
 */
export function readJson(bytes: Buffer, maxValues: number): unknown {
  if (bytes.length === 0) return {};
  assertBounded(bytes, maxValues);
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new Refusal('invalid_request', 'The body is not valid JSON.', { status: 400 });
  }
}

/** Of each list and object the first value follows what opens it, any other a comma. What is no JSON at all is found when it is parsed. */
function assertBounded(bytes: Buffer, maxValues: number): void {
  let [values, depth, inText] = [1, 0, false];
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (inText) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) inText = false;
    } else if (byte === QUOTE) inText = true;
    else if (byte === COMMA) values += 1;
    else if (byte === LIST || byte === OBJECT) {
      values += 1;
      depth += 1;
    } else if (byte === LIST_END || byte === OBJECT_END) depth -= 1;
    if (values > maxValues) throw refusal(`holds more than ${maxValues} values`);
    if (depth > MAX_DEPTH) throw refusal(`is more than ${MAX_DEPTH} deep`);
  }
}

function refusal(fault: string): Refusal {
  return new Refusal('invalid_request', `The body ${fault}, which is the limit here.`, { status: 400 });
}
