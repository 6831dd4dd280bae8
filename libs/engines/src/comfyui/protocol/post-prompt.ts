import { setTimeout as delay } from 'node:timers/promises';
import type { EngineFailure } from '../../engine';
import type { ComfyuiClient } from './comfyui.client';
import { Unreachable, type Answer } from './http-transport';
import { parseLenientJson } from './lenient-json';
import { listOf, objectOf, textOf } from './messages';
import { locatePrompt } from './locate-prompt';

export type PostResult =
  | { status: 'accepted' }
  /** It runs, but not whole: outputs that did not pass validation were dropped. */
  | { status: 'partly_accepted'; failure: EngineFailure }
  | { status: 'refused'; failure: EngineFailure }
  | { status: 'lost'; reason: string };

export interface Prompt {
  promptId: string;
  clientId: string;
  /** The graph as JSON text: it goes onto the wire as it is. */
  graph: string;
  extraData: Readonly<Record<string, string>>;
}

/** Names under which credentials are submitted, and the one that ComfyUI's nodes look for. */
const CREDENTIALS: Readonly<Record<string, string>> = {
  api_key_vendor_org: 'api_key_comfy_org',
  api_key_comfy_org: 'api_key_comfy_org',
  auth_token_comfy_org: 'auth_token_comfy_org',
};

const MAX_POSTS = 3;
const SETTLE_MS = 250;

/** What of `extraData` goes to ComfyUI, by the names it knows. It comes back to anyone who asks for the queue: nothing else does. */
export function mapExtraData(extraData: Readonly<Record<string, string>>): Record<string, string> {
  const known = Object.entries(extraData).flatMap(([key, value]) => {
    const name = Object.hasOwn(CREDENTIALS, key) ? CREDENTIALS[key] : undefined;
    return name === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(known);
}

export function promptBody({ promptId, clientId, graph, extraData }: Prompt): string {
  const ids = `"prompt_id":${JSON.stringify(promptId)},"client_id":${JSON.stringify(clientId)}`;
  return `{"prompt":${graph},${ids},"extra_data":${JSON.stringify(extraData)}}`;
}

/**
 * Posts a prompt once. When the answer is lost, the server is asked for the prompt's id, and only a prompt that did not
 * arrive is posted again: ComfyUI takes the same id twice and would run it twice.
 *
 * @param classes the submitted graph's, to name the node at fault
 */
export async function postPrompt(
  client: ComfyuiClient,
  prompt: Prompt,
  classes: ReadonlyMap<string, string>,
  timeoutMs: number,
): Promise<PostResult> {
  const body = promptBody(prompt);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const answer = await client.postPrompt(body, timeoutMs);
      if (answer.status < 500) return readAnswer(answer, classes);
      // A 500 says nothing: ComfyUI can queue a prompt and then fail to answer.
      if (await hasArrived(client, prompt.promptId)) return { status: 'accepted' };
      return refusedBy(answer);
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      const arrived = error.sent && (await hasArrivedLate(client, prompt.promptId));
      if (arrived) return { status: 'accepted' };
      if (attempt >= MAX_POSTS || arrived === null) return { status: 'lost', reason: error.message };
      await delay(SETTLE_MS);
    }
  }
}

async function hasArrived(client: ComfyuiClient, promptId: string): Promise<boolean> {
  const found = await locatePrompt(client, promptId);
  return 'entry' in found || found.place !== 'gone';
}

/** Null when the server can't be asked. Asked twice: a request that was on its way may still be under validation. */
async function hasArrivedLate(client: ComfyuiClient, promptId: string): Promise<boolean | null> {
  try {
    if (await hasArrived(client, promptId)) return true;
    await delay(SETTLE_MS);
    return await hasArrived(client, promptId);
  } catch (error) {
    if (error instanceof Unreachable) return null;
    throw error;
  }
}

function readAnswer(answer: Answer, classes: ReadonlyMap<string, string>): PostResult {
  const body = bodyOf(answer);
  const failure = nodeFailure(body, classes);
  if (answer.status !== 200) return failure ? { status: 'refused', failure } : refusedBy(answer);
  return failure ? { status: 'partly_accepted', failure } : { status: 'accepted' };
}

function bodyOf({ text }: Answer): Record<string, unknown> | null {
  try {
    return objectOf(parseLenientJson(text));
  } catch {
    return null;
  }
}

/** The first of the nodes' errors in full, the others counted. `error.details` is empty when the fault is upstream. */
function nodeFailure(body: Record<string, unknown> | null, classes: ReadonlyMap<string, string>): EngineFailure | null {
  const nodes = Object.entries(objectOf(body?.['node_errors']) ?? {});
  const [first] = nodes;
  if (!first) return null;
  const [nodeId, description] = first;
  const errors = listOf(objectOf(description)?.['errors']).map(sentenceOf);
  const others = nodes.length > 1 ? ` (and errors at ${nodes.length - 1} more)` : '';
  return {
    code: 'node_execution_error',
    message: `ComfyUI refused the workflow: ${errors.join('; ') || 'no reason given'}${others}`,
    nodeId: classes.has(nodeId) ? nodeId : null,
    classType: classes.get(nodeId) ?? textOf(objectOf(description)?.['class_type']),
    traceback: null,
  };
}

function sentenceOf(error: unknown): string {
  const message = textOf(objectOf(error)?.['message']) ?? 'error';
  const details = textOf(objectOf(error)?.['details']) ?? '';
  return details === '' ? message : `${message}: ${details}`;
}

function refusedBy(answer: Answer): PostResult {
  const error = objectOf(bodyOf(answer)?.['error']);
  const reason = error ? sentenceOf(error) : `status ${answer.status}`;
  // In front of ComfyUI, not it: another attempt may reach it.
  if (answer.status >= 502 && answer.status <= 504)
    return { status: 'lost', reason: `ComfyUI is not there: ${reason}.` };
  const message = `ComfyUI refused the workflow: ${reason}`;
  return {
    status: 'refused',
    failure: { code: 'engine_error', message, nodeId: null, classType: null, traceback: null },
  };
}
