import type { JsonNode } from '../json';
import { workflowOf, type WorkflowGraph } from './workflow';

/** What takes the place of a reference: a string, most often the name of a file. */
export interface AssetReplacement {
  start: number;
  end: number;
  value: string;
}

/**
 * The graph with JSON strings in the places of asset references. Every other character of its text stays as it was: no number
 * is read, no key moved, no escape rewritten (contract supplement, section 4). The text is not parsed again: values keep what
 * was read of them, and only their places are moved.
 *
 * @throws {RangeError} when a place holds no object of the graph, or two overlap
 */
export function replaceAssetReferences(graph: WorkflowGraph, replacements: Iterable<AssetReplacement>): WorkflowGraph {
  const ordered = [...replacements].sort((a, b) => a.start - b.start);
  if (ordered.length === 0) return graph;
  const root = new Replacer(ordered).replace(graph.root);
  return workflowOf(root, replacedText(graph.text, ordered));
}

function replacedText(text: string, ordered: readonly AssetReplacement[]): string {
  const pieces: string[] = [];
  let copied = 0;
  for (const { start, end, value } of ordered) {
    pieces.push(text.slice(copied, start), JSON.stringify(value));
    copied = end;
  }
  pieces.push(text.slice(copied));
  return pieces.join('');
}

/** Walks a tree in the order of its text, so that one pass over the replacements moves every place. */
class Replacer {
  /** The replacement that comes next. */
  private at = 0;
  /** By how much the places after the replacements passed so far are moved. */
  private shift = 0;

  constructor(private readonly ordered: readonly AssetReplacement[]) {}

  /** @throws {RangeError} when a replacement is left over: its place is no object of the tree. */
  replace(root: JsonNode): JsonNode {
    const replaced = this.node(root);
    const left = this.ordered[this.at];
    if (left) throw new RangeError(`The text from ${left.start} to ${left.end} is not an object that can be replaced.`);
    return replaced;
  }

  /** Recursion is bounded by the depth that the parser allows. */
  private node(node: JsonNode): JsonNode {
    const replacement = this.ordered[this.at];
    if (node.kind === 'object' && node.start === replacement?.start && node.end === replacement.end) {
      return this.string(replacement);
    }
    const start = node.start + this.shift;
    switch (node.kind) {
      case 'object': {
        const entries = node.entries.map(({ key, value }) => ({ key, value: this.node(value) }));
        return { kind: 'object', start, end: node.end + this.shift, entries };
      }
      case 'array': {
        const items = node.items.map((item) => this.node(item));
        return { kind: 'array', start, end: node.end + this.shift, items };
      }
      default:
        return { ...node, start, end: node.end + this.shift };
    }
  }

  private string({ start, end, value }: AssetReplacement): JsonNode {
    const placed = start + this.shift;
    const { length } = JSON.stringify(value);
    this.at += 1;
    this.shift += length - (end - start);
    return { kind: 'string', start: placed, end: placed + length, value };
  }
}
