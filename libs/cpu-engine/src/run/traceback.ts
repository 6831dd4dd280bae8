import type { EngineFailure } from '@millrace/engines';
import type { BoundNode } from './bound-node';
import { InputUnavailable } from '../node-api/node-context';
import { NodeFault } from '../node-api/node-fault';
import { describe, type Value } from '../node-api/value';

/** The node at work when something went wrong, and the lists that had arrived at its inputs. */
export interface FailedCall {
  node: BoundNode;
  inputs: ReadonlyMap<string, Value[]>;
}

/** Ids are the author's, of any length. */
const SHOWN_ID = 100;

/** How many values of a list a traceback shows. */
const SHOWN_VALUES = 3;

/** The failure that an error in a node's code amounts to. Its text holds no path of this machine. */
export function failureOf(error: unknown, call: FailedCall): EngineFailure {
  const { node } = call;
  const message = messageOf(error);
  return {
    code: codeOf(error),
    message,
    nodeId: node.id,
    classType: node.nodeClass.name,
    traceback: tracebackOf(error, message, call),
  };
}

function codeOf(error: unknown): EngineFailure['code'] {
  if (error instanceof InputUnavailable) return 'input_unavailable';
  return error instanceof NodeFault || isOutOfMemory(error) || isTooDeep(error)
    ? 'node_execution_error'
    : 'engine_error';
}

function messageOf(error: unknown): string {
  if (isTooDeep(error)) return 'What arrived at this node is nested too deeply. Use less nesting.';
  if (isOutOfMemory(error)) return 'This node needs more memory than the machine has. Use smaller pictures or batches.';
  return error instanceof Error ? error.message : String(error);
}

/** What JavaScript throws when an array or text can not be allocated. */
function isOutOfMemory(error: unknown): boolean {
  return (
    error instanceof RangeError && /allocation failed|Invalid (?:string|typed array|array) length/.test(error.message)
  );
}

function isTooDeep(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded';
}

function tracebackOf(error: unknown, message: string, { node, inputs }: FailedCall): string {
  const given = [...inputs].map(([name, values]) => `    ${name} = ${listText(values)}`);
  const name = error instanceof Error ? error.name : 'Error';
  const frames = error instanceof NodeFault || error instanceof InputUnavailable ? [] : framesOf(error);
  return [
    `Node ${node.id.slice(0, SHOWN_ID)} (${node.nodeClass.name}), with`,
    ...given,
    ...frames,
    `${name}: ${message}`,
  ].join('\n');
}

function listText(values: Value[]): string {
  if (values.length === 1) return describe(values[0] as Value);
  const shown = values.slice(0, SHOWN_VALUES).map(describe).join(', ');
  return `list of ${values.length}: ${shown}${values.length > SHOWN_VALUES ? ', …' : ''}`;
}

/** The stack of an unforeseen error, of every frame the function and the plain file name. */
function framesOf(error: unknown): string[] {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  return stack
    .split('\n')
    .filter((line) => line.startsWith('    at '))
    .map((line) => line.replace(/[^\s(]*[/\\]/g, ''));
}
