import { z } from 'zod';
import { Refusal } from '@millrace/contracts';
import { JsonSyntaxError, jsonFault, member, parseJson, sliceOf, type JsonNode } from '@millrace/workflow';
import { countValues, parseFields } from '../http';

/** Outside of its graph: each may be a fault that is built and named. No message that a tool takes has a tenth of them. */
const MAX_VALUES = 1_000;
/** Where a call has its graph. */
const GRAPH_PATH = ['params', 'arguments', 'workflow'];

/** What a call of a tool says at least. The library would refuse another in words of its own. */
const CallSchema = z.looseObject({
  params: z.looseObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()).optional() }),
});

/** One message of JSON-RPC, as it was sent. */
export interface Message {
  /** As `JSON.parse` reads it, with an empty object in the place of a graph: nothing but its text is used. */
  value: object;
  /**
   * The text of the graph in the arguments of the tool that it calls, character for character: a parser whose numbers are doubles loses
   * digits of 64-bit seeds. Undefined where there is none.
   */
  graphText: string | undefined;
}

/**
 * Read a message. The parser of submissions goes first: it bounds how deep a text is nested and how many values it holds.
 *
 * @param bytes JSON in UTF-8.
 * @throws Refusal `invalid_request`, also for a batch, which the protocol has no more: one request would be many calls; and for more than
 * 1,000 values outside of a graph.
 */
export function readMessage(bytes: Uint8Array): Message {
  const text = textOf(bytes);
  const root = parsed(text);
  if (root.kind !== 'object')
    throw unreadable('Send one message of JSON-RPC, as a JSON object. Batches are not taken.');
  // What is read here has many times the length of its text, and a call may wait for minutes: it keeps the text alone.
  const graph = GRAPH_PATH.reduce<JsonNode | undefined>((node, key) => node && member(node, key), root);
  const value = JSON.parse(withoutGraph(graph, text)) as object;
  if (countValues(value, MAX_VALUES) > MAX_VALUES) {
    throw unreadable(`The message holds more than ${MAX_VALUES} JSON values outside of its graph, which is the limit.`);
  }
  if ((value as { method?: unknown }).method === 'tools/call') parseFields(CallSchema, value, 400, 'the message');
  return { value, graphText: graph && sliceOf(graph, text) };
}

/** What is no object stays: the tool refuses it. */
function withoutGraph(graph: JsonNode | undefined, text: string): string {
  return graph?.kind === 'object' ? `${text.slice(0, graph.start)}{}${text.slice(graph.end)}` : text;
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
