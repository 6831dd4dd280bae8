import { realCatalogue } from '../fixtures/catalogue';
import { graphText, nodeText } from '../fixtures/graph';
import { parseWorkflow } from '../graph';
import { NameIndex } from './suggestion';
import { validateWorkflow } from './validation';

const NAMES = ['KSampler', 'KSamplerAdvanced', 'SaveImage', 'LoadImage', 'VAEDecode'];

function nearest(name: string, names: Iterable<string>, pairs = 1e9): string | null {
  return new NameIndex(names).nearest(name, { pairs });
}

describe('the nearest name', () => {
  it.each([
    ['ksampler', 'KSampler'],
    ['KSamplr', 'KSampler'],
    ['SaveImages', 'SaveImage'],
    ['LaodImage', 'LoadImage'],
    ['VAEDecoder', 'VAEDecode'],
    ['KSamplerAdvance', 'KSamplerAdvanced'],
  ])('to %s is %s', (name, expected) => {
    expect(nearest(name, NAMES)).toBe(expected);
  });

  it.each(['', 'K', 'ImageScale', 'x'.repeat(1_000_000)])('is none where nothing is near', (name) => {
    expect(nearest(name, NAMES)).toBeNull();
  });

  it('is as near as the whole table of edits says, for names of every likeness', () => {
    const draw = numbers(7);
    const word = (): string => Array.from({ length: 4 + (draw() % 9) }, () => 'abc'[draw() % 3]).join('');
    for (let turn = 0; turn < 300; turn += 1) {
      const name = word();
      const names = Array.from({ length: 12 }, word);
      const least = Math.min(...names.map((other) => distanceOf(name, other)));
      const found = nearest(name, names);
      if (least > Math.max(1, Math.floor(name.length / 4))) expect(found).toBeNull();
      else expect(distanceOf(name, found ?? '')).toBe(least);
    }
  });
});

describe('the work of a search', () => {
  const classes = Array.from({ length: 3_000 }, (_, at) => `SamplerOfSomeMaker${String(at).padStart(6, '0')}`);

  it('is a small part of the whole tables for a name that resembles no other', () => {
    const budget = { pairs: 1e9 };
    expect(new NameIndex(classes).nearest('Zq'.padEnd(24, 'x'), budget)).toBeNull();
    expect(1e9 - budget.pairs).toBeLessThan((3_000 * 24 * 24) / 5);
  });

  it('ends with its budget, without a guess', () => {
    const budget = { pairs: 50_000 };
    const index = new NameIndex(classes);
    expect(index.nearest('SamplerOfSomeMaker00zzzz', budget)).toBeNull();
    expect(budget.pairs).toBeGreaterThan(-24 * 24);
    expect(index.nearest('SamplerOfSomeMaker000000', budget)).toBeNull();
  });

  it('is bounded for a graph as a whole, however many unknown classes it names among 3,000', () => {
    const some = realCatalogue()['EmptyImage'];
    const catalogue = Object.fromEntries(classes.map((name) => [name, some] as const).filter(isGiven));
    const names = Array.from({ length: 400 }, (_, at) => `SamplerOfSomeMakerzz${String(at).padStart(4, 'z')}`);
    const searches = jest.spyOn(NameIndex.prototype, 'nearest');
    const graph = parseWorkflow(graphText(names.map((name, at): [string, string] => [String(at), nodeText(name)])));
    expect(Object.keys(validateWorkflow(graph, catalogue))).toHaveLength(400);
    const budgets = new Set(searches.mock.calls.map(([, budget]) => budget));
    expect(searches).toHaveBeenCalledTimes(400);
    expect([...budgets].map(({ pairs }) => pairs <= 0 && pairs > -24 * 24)).toEqual([true]);
    searches.mockRestore();
  });
});

function isGiven<T>(entry: readonly [string, T | undefined]): entry is readonly [string, T] {
  return entry[1] !== undefined;
}

/** Numbers from 0 that look drawn, the same each time. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) >> 8;
}

function distanceOf(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [line, letter] of [...from].entries()) {
    const next = [line + 1];
    for (const [column, other] of [...to].entries()) {
      const replaced = (row[column] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
