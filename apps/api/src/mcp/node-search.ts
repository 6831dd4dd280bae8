import type { NodeCatalogue, NodeClass } from '@millrace/contracts';

/** A node class that fits a search. */
export interface FoundNode {
  name: string;
  nodeClass: NodeClass;
}

/** More words narrow nothing that a catalogue has. */
const MAX_WORDS = 8;
/** Where a word is worth more: the name of the class says most. */
const WEIGHTS = { whole: 8, name: 4, type: 2, text: 1 } as const;

/**
 * The node classes in which every word of a query occurs, the best first: in the name, the types of inputs and outputs, the category
 * or the description. A query without words finds all.
 */
export function searchNodes(catalogue: NodeCatalogue, query: string): FoundNode[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
  const found = Object.entries(catalogue).flatMap(([name, nodeClass]) => {
    const scores = words.map((word) => scoreOf(word, name, nodeClass));
    if (scores.includes(0)) return [];
    return [{ name, nodeClass, score: scores.reduce((sum, score) => sum + score, 0) }];
  });
  return found
    .sort((a, b) => b.score - a.score || a.name.localeCompare(b.name))
    .map(({ name, nodeClass }) => ({ name, nodeClass }));
}

function scoreOf(word: string, name: string, { displayName, category, description, ...rest }: NodeClass): number {
  const names = [name.toLowerCase(), displayName.toLowerCase()];
  if (names.includes(word)) return WEIGHTS.whole;
  if (names.some((text) => text.includes(word))) return WEIGHTS.name;
  const types = [...Object.values(rest.inputs), ...rest.outputs].map(({ type }) => type.toLowerCase());
  if (types.some((type) => type.split(',').includes(word))) return WEIGHTS.type;
  return `${category} ${description}`.toLowerCase().includes(word) ? WEIGHTS.text : 0;
}
