import { endOfValue, membersOf } from './json-members';
import { parseLenientJson } from './lenient-json';
import { typedMessage, type ServerMessage } from './messages';
import { inMib } from './size-bounds';

/** What says which node it is about and what that raised. All else is left out: inputs and outputs are what makes messages large. */
const READ: ReadonlySet<string> = new Set([
  ...['prompt_id', 'node', 'display_node'],
  ...['node_id', 'node_type', 'exception_type', 'exception_message', 'traceback'],
]);
/** Of a value that is parsed. */
const MAX_VALUE_BYTES = 1024 * 1024;
/** Of each end of a longer text. */
const END_BYTES = 128 * 1024;
const ESCAPED: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/**
 * Reads as much of a text message that is too large to be parsed as says what happened: of `executed`, which node has reported, without its
 * output; of `execution_error`, the node and its error. Of `logs`, that there were some. The rest is `other`. Never throws, and takes no more
 * memory than some MiB.
 */
export function readLargeMessage(message: Buffer): ServerMessage {
  const { type, dataAt } = outlineOf(message);
  if (type === 'logs') {
    return { type, text: `\n[${inMib(message.length)} of output, which is more than is taken, left out]\n` };
  }
  if ((type !== 'executed' && type !== 'execution_error') || dataAt === null) return { type: 'other' };
  const data: Record<string, unknown> = {};
  for (const [name, at] of membersOf(message, dataAt)) if (READ.has(name)) data[name] = valueOf(message, at);
  return typedMessage(type, data);
}

/** The type, which ComfyUI writes first, and where the data begins. */
function outlineOf(message: Buffer): { type: unknown; dataAt: number | null } {
  let type: unknown = null;
  let dataAt: number | null = null;
  for (const [name, at] of membersOf(message, 0)) {
    if (name === 'type') type = valueOf(message, at);
    if (name === 'data') dataAt = at;
    if (type !== null && dataAt !== null) break;
  }
  return { type, dataAt };
}

/** Null for what is too large and no text, or no JSON. */
function valueOf(json: Buffer, at: number): unknown {
  const end = endOfValue(json, at);
  if (end - at > MAX_VALUE_BYTES) return json[at] === 0x22 ? endsOf(json, at + 1, end - 1) : null;
  try {
    return parseLenientJson(json.toString('utf8', at, end));
  } catch {
    return null;
  }
}

function endsOf(json: Buffer, from: number, to: number): string {
  const [head, tail] = [json.toString('utf8', from, from + END_BYTES), json.toString('utf8', to - END_BYTES, to)];
  return `${unescaped(head)}\n…\n${unescaped(tail)}`;
}

/** A piece of a JSON string as text. What the cut has left half of an escape is not worth more. */
function unescaped(piece: string): string {
  return piece.replace(/\\(?:u([\da-f]{4})|(.))/gi, (_whole, hex: string | undefined, short: string) =>
    hex === undefined ? (ESCAPED[short] ?? short) : String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
