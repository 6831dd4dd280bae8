import type { InputSpec } from '@millrace/contracts';
import { jsonNumber, pythonFloat, pythonInt, unwrapped, type JsonNode } from '@millrace/workflow';
import { NodeFault } from './node-fault';
import { strOf } from '../python/format';
import type { Value } from './value';

/**
 * The value that a literal of a graph stands for at an input, converted as the field converts: `"64"` and 64.9 are whole
 * numbers, any text but the empty one is true, and any value given for a text becomes one.
 *
 * @throws {NodeFault} when it can not be converted.
 */
export function literalValue(literal: JsonNode, name: string, spec: InputSpec): Value {
  const node = unwrapped(literal);
  switch (spec.type) {
    case 'INT':
      return BigInt(given(pythonInt(node), name, 'a whole number'));
    case 'FLOAT':
      return given(pythonFloat(node), name, 'a number');
    case 'STRING':
      return strOf(node);
    case 'BOOLEAN':
      return isTrue(node);
    default:
      return plainValue(node, name);
  }
}

function given<T>(value: T | null, name: string, wanted: string): T {
  if (value === null) throw new NodeFault(`${name} must be ${wanted}.`);
  return value;
}

/** `bool(x)` of Python. */
function isTrue(node: JsonNode): boolean {
  switch (node.kind) {
    case 'null':
      return false;
    case 'boolean':
      return node.value;
    case 'number':
      return Number(node.raw) !== 0;
    case 'string':
      return node.value !== '';
    case 'array':
      return node.items.length > 0;
    case 'object':
      return node.entries.length > 0;
  }
}

function plainValue(node: JsonNode, name: string): Value {
  switch (node.kind) {
    case 'null':
      return null;
    case 'boolean':
    case 'string':
      return node.value;
    case 'number':
      return /[.eE]/.test(node.raw)
        ? Number(node.raw)
        : BigInt(given(jsonNumber(node.raw), name, 'a number of fewer digits'));
    default:
      return { kind: 'JSON', node };
  }
}
