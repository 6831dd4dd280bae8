import { copyOf } from '@millrace/workflow';
import { parseLenientJson } from './lenient-json';

/** What a node reported for its outputs: lists of items by kind. */
export type NodeOutput = Record<string, unknown>;

/** How a node failed, in ComfyUI's words and its node ids. */
export interface NodeError {
  nodeId: string | null;
  nodeType: string | null;
  exceptionType: string;
  message: string;
  traceback: string[];
}

/** A message of the WebSocket, or of `status.messages` in a history entry. `promptId` null: the message names none. */
export type ServerMessage =
  | { type: 'execution_start'; promptId: string | null }
  | { type: 'execution_cached'; promptId: string | null; nodes: string[] }
  | { type: 'executing'; promptId: string | null; node: string | null; displayNode: string | null }
  | { type: 'progress'; promptId: string | null; node: string | null; value: number; max: number }
  /** Left as text: it repeats every node of the prompt with each step, so that only the last one is worth parsing. */
  | { type: 'progress_state'; text: string }
  | {
      type: 'executed';
      promptId: string | null;
      node: string | null;
      displayNode: string | null;
      output: NodeOutput | null;
    }
  | { type: 'execution_success'; promptId: string | null }
  | { type: 'execution_error'; promptId: string | null; error: NodeError }
  | { type: 'execution_interrupted'; promptId: string | null }
  | { type: 'logs'; text: string }
  /** `status`, `feature_flags` and what node packs send. */
  | { type: 'other' };

/** Of the message of a node's error, and of its traceback, in UTF-16 units: four times what is shown. They are kept as long as the run. */
const MAX_ERROR_LENGTH = 128 * 1024;
/** Of the names of a class and of an exception. */
const MAX_NAME_LENGTH = 1_024;

const OTHER: ServerMessage = { type: 'other' };
const PROGRESS_STATE = /^\s*\{\s*"type"\s*:\s*"progress_state"/;

/** Reads a text message. Never throws: what is not a message is `other`. */
export function readMessage(text: string): ServerMessage {
  if (PROGRESS_STATE.test(text.slice(0, 64))) return { type: 'progress_state', text };
  const message = objectOf(attempt(text));
  const data = objectOf(message?.['data']);
  if (!message || !data) return OTHER;
  return typedMessage(message['type'], data);
}

/** The message of a type and its data, as they also stand in a history entry. */
export function typedMessage(type: unknown, data: Record<string, unknown>): ServerMessage {
  const promptId = textOf(data['prompt_id']);
  const node = textOf(data['node']);
  const displayNode = textOf(data['display_node']);
  switch (type) {
    case 'execution_start':
    case 'execution_success':
    case 'execution_interrupted':
      return { type, promptId };
    case 'execution_cached':
      return { type, promptId, nodes: textsOf(data['nodes']) };
    case 'executing':
      return { type, promptId, node, displayNode };
    case 'progress':
      return { type, promptId, node, value: numberOf(data['value']), max: numberOf(data['max']) };
    case 'executed':
      return { type, promptId, node, displayNode, output: objectOf(data['output']) };
    case 'execution_error':
      return { type, promptId, error: errorOf(data) };
    case 'logs':
      return { type, text: listOf(data['entries']).map(logText).join('') };
    default:
      return OTHER;
  }
}

/** Ids of the nodes that a `progress_state` text calls finished, and the prompt that it is about. */
export function readProgressState(text: string): { promptId: string | null; finished: string[] } {
  const data = objectOf(objectOf(attempt(text))?.['data']);
  const nodes = Object.entries(objectOf(data?.['nodes']) ?? {});
  const finished = nodes.filter(([, state]) => objectOf(state)?.['state'] === 'finished').map(([id]) => id);
  return { promptId: textOf(data?.['prompt_id']), finished };
}

export function objectOf(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

function textsOf(value: unknown): string[] {
  return listOf(value).filter((item) => typeof item === 'string');
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}

function logText(entry: unknown): string {
  return textOf(objectOf(entry)?.['m']) ?? '';
}

function errorOf(data: Record<string, unknown>): NodeError {
  return {
    nodeId: textOf(data['node_id']),
    nodeType: nameOf(data['node_type']),
    exceptionType: nameOf(data['exception_type']) ?? '',
    message: endsOf((textOf(data['exception_message']) ?? '').trim()),
    traceback: lastOf(textsOf(data['traceback'])),
  };
}

function nameOf(value: unknown): string | null {
  const name = textOf(value);
  return name === null || name.length <= MAX_NAME_LENGTH ? name : copyOf(name.slice(0, MAX_NAME_LENGTH));
}

/** Both ends: one of them is shown, and it is longer than what is shown or searched for secrets, half of which would not be found. */
function endsOf(message: string): string {
  if (message.length <= MAX_ERROR_LENGTH) return message;
  const half = MAX_ERROR_LENGTH / 2;
  return copyOf(`${message.slice(0, half)}\n…\n${message.slice(-half)}`);
}

/** The last frames, in which stands what was raised. */
function lastOf(frames: string[]): string[] {
  let left = MAX_ERROR_LENGTH;
  const from = frames.findLastIndex((frame) => (left -= frame.length) < 0);
  if (from < 0) return frames;
  const kept = from === frames.length - 1 ? [frames[from]?.slice(-MAX_ERROR_LENGTH) ?? ''] : frames.slice(from + 1);
  return kept.map(copyOf);
}

function attempt(text: string): unknown {
  try {
    return parseLenientJson(text);
  } catch {
    return null;
  }
}
