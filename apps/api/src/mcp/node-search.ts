import { Injectable } from '@nestjs/common';
import type { NodeCatalogue, NodeClass } from '@millrace/contracts';
import { Turns } from '@millrace/platform';

/** A node class that fits a search. */
export interface FoundNode {
  name: string;
  nodeClass: NodeClass;
}

/** A node class with what a search looks at, in small letters. */
interface Entry extends FoundNode {
  names: [string, string];
  types: Set<string>;
  text: string;
}

/** More words narrow nothing that a catalogue has. */
const MAX_WORDS = 8;
/** Where a word is worth more: the name of the class says most. */
const WEIGHTS = { whole: 8, name: 4, type: 2, text: 1 } as const;
/** Of one account: a search of a catalogue of thousands of classes takes milliseconds, and the first one tens of them. */
const SEARCHES_AT_A_TIME = 1;

/** Searches catalogues of node classes by words. */
@Injectable()
export class NodeSearch {
  /** By catalogue, for as long as that is kept (`CatalogueReader`): in the order of names. */
  private readonly entries = new WeakMap<NodeCatalogue, readonly Entry[]>();
  private readonly turns = new Turns(SEARCHES_AT_A_TIME, 'searches of node classes');

  /**
   * The node classes in which every word of a query occurs, the best first: in the name, the types of inputs and outputs, the category
   * or the description. A query without words finds all. Searches of one account wait for each other.
   *
   * @throws Refusal `rate_limited` when too many wait.
   */
  find(accountId: string, catalogue: NodeCatalogue, query: string): Promise<FoundNode[]> {
    return this.turns.run(accountId, () => Promise.resolve(found(this.entriesOf(catalogue), query)));
  }

  private entriesOf(catalogue: NodeCatalogue): readonly Entry[] {
    const kept = this.entries.get(catalogue);
    if (kept !== undefined) return kept;
    const names = Object.keys(catalogue).sort((a, b) => a.localeCompare(b));
    const entries = names.flatMap((name) => entryOf(name, catalogue[name]) ?? []);
    this.entries.set(catalogue, entries);
    return entries;
  }
}

function entryOf(name: string, nodeClass: NodeClass | undefined): Entry | null {
  if (nodeClass === undefined) return null;
  const { displayName, category, description, inputs, outputs } = nodeClass;
  const types = [...Object.values(inputs), ...outputs].flatMap(({ type }) => type.toLowerCase().split(','));
  return {
    name,
    nodeClass,
    names: [name.toLowerCase(), displayName.toLowerCase()],
    types: new Set(types),
    text: `${category} ${description}`.toLowerCase(),
  };
}

function found(entries: readonly Entry[], query: string): FoundNode[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MAX_WORDS);
  const scored = entries.flatMap((entry) => {
    const score = words.length === 0 ? 1 : scoreOfAll(words, entry);
    return score === 0 ? [] : [{ entry, score }];
  });
  return scored.sort((a, b) => b.score - a.score).map(({ entry: { name, nodeClass } }) => ({ name, nodeClass }));
}

/** 0 where one of the words occurs nowhere. */
function scoreOfAll(words: readonly string[], entry: Entry): number {
  let sum = 0;
  for (const word of words) {
    const score = scoreOf(word, entry);
    if (score === 0) return 0;
    sum += score;
  }
  return sum;
}

function scoreOf(word: string, { names, types, text }: Entry): number {
  if (names.includes(word)) return WEIGHTS.whole;
  if (names.some((name) => name.includes(word))) return WEIGHTS.name;
  if (types.has(word)) return WEIGHTS.type;
  return text.includes(word) ? WEIGHTS.text : 0;
}
