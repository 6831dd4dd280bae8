import { setTimeout as delay } from 'node:timers/promises';
import type { EngineFailure } from '../../engine';
import type { ComfyuiClient } from './comfyui.client';
import { Unreachable, type Answer } from './http-transport';
import { parseLenientJson } from './lenient-json';
import { listOf, objectOf, textOf } from './messages';
import { locatePrompt } from './locate-prompt';
import { TooLarge } from './size-bounds';

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
 * @returns `lost` also where the server may have the prompt: whether it arrived could not be found out.
 * @throws {TooLarge} when the prompt arrived, and what the server says of it is more than is read
 */
export async function postPrompt(
  client: ComfyuiClient,
  prompt: Prompt,
  classes: ReadonlyMap<string, string>,
  timeoutMs: number,
): Promise<PostResult> {
  const body = promptBody(prompt);
  for (let attempt = 1; ; attempt += 1) {
    const answer = await answerOf(client, body, timeoutMs);
    if (!(answer instanceof Unreachable) && answer.status < 500) return readAnswer(answer, classes);
    const arrived = await hasArrived(client, prompt.promptId, answer);
    if (arrived) return { status: 'accepted' };
    if (arrived !== null && !(answer instanceof Unreachable)) return refusedBy(answer);
    if (arrived === null || attempt >= MAX_POSTS) return { status: 'lost', reason: reasonOf(answer) };
    await delay(SETTLE_MS);
  }
}

async function answerOf(client: ComfyuiClient, body: string, timeoutMs: number): Promise<Answer | Unreachable> {
  try {
    return await client.postPrompt(body, timeoutMs);
  } catch (error) {
    if (error instanceof Unreachable) return error;
    throw error;
  }
}

/**
 * Whether the prompt arrived of which the answer says nothing: ComfyUI can queue one and then fail to answer. Null when that cannot be
 * found out, whether the server is silent or a gateway answers in its place.
 */
async function hasArrived(
  client: ComfyuiClient,
  promptId: string,
  answer: Answer | Unreachable,
): Promise<boolean | null> {
  if (answer instanceof Unreachable && !answer.sent) return false;
  try {
    if (await isThere(client, promptId)) return true;
    // ComfyUI's own answer comes after it has queued the prompt, or not.
    if (!(answer instanceof Unreachable) && !isOfGateway(answer)) return false;
    // Asked twice: a request that was on its way may still be under validation.
    await delay(SETTLE_MS);
    return await isThere(client, promptId);
  } catch (error) {
    // Its entry in the history is too large to be read: it arrived, and has ended.
    if (error instanceof TooLarge) throw error;
    return null;
  }
}

async function isThere(client: ComfyuiClient, promptId: string): Promise<boolean> {
  const found = await locatePrompt(client, promptId);
  return 'entry' in found || found.place !== 'gone';
}

function isOfGateway({ status }: Answer): boolean {
  return status >= 502 && status <= 504;
}

function reasonOf(answer: Answer | Unreachable): string {
  return answer instanceof Unreachable ? answer.message : `ComfyUI answered POST /prompt with ${answer.status}.`;
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
  if (isOfGateway(answer)) return { status: 'lost', reason: `ComfyUI is not there: ${reason}.` };
  const message = `ComfyUI refused the workflow: ${reason}`;
  return {
    status: 'refused',
    failure: { code: 'engine_error', message, nodeId: null, classType: null, traceback: null },
  };
}
