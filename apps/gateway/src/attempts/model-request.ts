import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Refusal } from '@millrace/contracts';
import type { Metrics } from '@millrace/platform';
import { modelFilesOfNode, parseWorkflow } from '@millrace/workflow';

const DIGEST = /^[0-9a-f]{64}$/;
const REST = /^bytes=(\d{1,15})-$/;
const RANGE = /^bytes=(\d{1,15})-(\d{1,15})$/;

/** The model files that the nodes of a graph name. */
export function namesIn(workflow: string): ReadonlySet<string> {
  return new Set([...parseWorkflow(workflow).nodes.values()].flatMap(modelFilesOfNode));
}

export function among(names: readonly string[], allowed: ReadonlySet<string>): string[] {
  return names.filter((name) => allowed.has(name));
}

/** @throws Refusal `not_found`. */
export function digestOf(text: string): string {
  if (DIGEST.test(text)) return text;
  throw new Refusal('not_found', `There is no model ${text.slice(0, 80)}; models are named by their blake3 here.`);
}

/** The bytes that a request asks for: `start` inclusive, `end` exclusive. @throws Refusal `invalid_request`. */
export function rangeOf({ headers }: IncomingMessage): { start: number; end: number } {
  const [, first, last] = RANGE.exec(String(headers.range ?? '')) ?? [];
  const [start, end] = [Number(first), Number(last) + 1];
  if (start < end) return { start, end };
  throw new Refusal('invalid_request', 'Send a Range of the form bytes=FIRST-LAST.', { status: 400 });
}

/** Where the rest begins that a request asks for; 0 for any other request, which is answered with all. */
export function restOf({ headers }: IncomingMessage): number {
  return Number(REST.exec(String(headers.range ?? ''))?.[1] ?? 0);
}

export async function sendPart(
  response: ServerResponse,
  bytes: Readable,
  { remoteBytes }: Pick<Metrics, 'remoteBytes'>,
): Promise<void> {
  response.writeHead(206, { 'Content-Type': 'application/octet-stream' });
  bytes.on('data', (chunk: Buffer) => remoteBytes.inc({ direction: 'out' }, chunk.length));
  await pipeline(bytes, response);
}
