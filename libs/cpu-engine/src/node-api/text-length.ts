import { NodeFault } from './node-fault';

/**
 * UTF-16 units of the longest text that a node takes or makes: beyond what any model or person reads. Taking a text apart into
 * characters or matches costs up to a hundred bytes for each, of a heap whose end would be that of the whole process.
 */
const MAX_TEXT_UNITS = 1024 * 1024;

/**
 * Called before a text is taken apart, or made of parts that do not bound its length: doubling a text forty times takes
 * forty nodes.
 *
 * @param name of the input that it arrives at
 * @throws {NodeFault} when it is or would be too long.
 */
export function checkTextLength(units: number, name = 'The text that this node makes'): void {
  if (units > MAX_TEXT_UNITS)
    throw new NodeFault(`${name} is too long: ${units} characters, where at most ${MAX_TEXT_UNITS} are allowed.`);
}
