import { createHash } from 'node:crypto';
import type { BoundNode, Source } from './bound-node';
import { reprOf } from '../python/format';
import type { Value } from '../node-api/value';

/** The content of an input file as a hash; the same for every name. */
export type FileHash = (name: string) => Promise<string>;

/**
 * What the result of each node depends on, as a hash: its class, its literals, the content of the files that it names
 * and, through the signatures of the nodes it is linked to, the same of all its ancestors. Ids of nodes do not count.
 *
 * @param nodes each after all that it depends on
 */
export async function signaturesOf(nodes: Iterable<BoundNode>, fileHash: FileHash): Promise<Map<string, string>> {
  const signatures = new Map<string, string>();
  for (const node of nodes) {
    const parts = [node.nodeClass.name];
    for (const name of [...node.sources.keys()].sort()) {
      const source = node.sources.get(name) as Source;
      if ('link' in source)
        parts.push(name, 'link', signatures.get(source.link.nodeId) ?? '', String(source.link.slot));
      else if (isFileName(source.literal, node, name)) parts.push(name, 'file', await fileHash(source.literal));
      else parts.push(name, 'literal', literalText(source.literal));
    }
    signatures.set(node.id, createHash('sha256').update(JSON.stringify(parts)).digest('hex'));
  }
  return signatures;
}

/** Different for any two values that a node could distinguish: 1 is not 1.0 and not "1". */
function literalText(value: Value): string {
  if (typeof value !== 'object' || value === null)
    return `${typeof value} ${Object.is(value, -0) ? '-0' : String(value)}`;
  return value.kind === 'JSON' ? reprOf(value.node) : '';
}

function isFileName(literal: Value, { nodeClass }: BoundNode, input: string): literal is string {
  return typeof literal === 'string' && nodeClass.entry.inputs[input]?.file !== undefined;
}
