import { Refusal } from '@millrace/contracts';
import { JsonSyntaxError, jsonFault, member, parseJson, sliceOf, type JsonNode } from '@millrace/workflow';

/** One message of JSON-RPC, as it was sent. */
export interface Message {
  /** As `JSON.parse` reads it. */
  value: object;
  /**
   * The text of an argument of the tool that it calls, character for character: a parser whose numbers are doubles loses digits
   * of 64-bit seeds. Undefined where there is none.
   */
  argumentText(name: string): string | undefined;
}

/**
 * Read a message. The parser of submissions goes first: it bounds how deep a text is nested and how many values it holds.
 *
 * @param bytes JSON in UTF-8.
 * @throws Refusal `invalid_request`, also for a batch, which the protocol has no more: one request would be many calls.
 */
export function readMessage(bytes: Uint8Array): Message {
  const text = textOf(bytes);
  const root = parsed(text);
  if (root.kind !== 'object')
    throw unreadable('Send one message of JSON-RPC, as a JSON object. Batches are not taken.');
  return {
    value: JSON.parse(text) as object,
    argumentText: (name) => {
      const argument = [`params`, 'arguments', name].reduce<JsonNode | undefined>(
        (node, key) => node && member(node, key),
        root,
      );
      return argument && sliceOf(argument, text);
    },
  };
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable('The body is not valid UTF-8.');
  }
}

function parsed(text: string): JsonNode {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw unreadable(jsonFault(error));
    throw error;
  }
}

function unreadable(message: string): Refusal {
  return new Refusal('invalid_request', message, { status: 400 });
}
