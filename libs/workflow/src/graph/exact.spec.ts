import fc from 'fast-check';
import type { NodeCatalogue } from '@millrace/contracts';
import { exactGraph, undeclaredClasses } from './exact';
import { parseWorkflow } from './workflow';

const CLASS = { displayName: '', category: '', description: '', outputs: [], outputNode: false };
const CATALOGUE: NodeCatalogue = {
  Load: { ...CLASS, deterministic: true, inputs: { image: { type: 'COMBO', required: true, file: 'image' } } },
  Show: { ...CLASS, deterministic: true, inputs: { text: { type: 'STRING', required: true } } },
  Dice: { ...CLASS, inputs: {} },
};
const ASSET = '0198d0a0-0000-7000-8000-00000000000a';
const OTHER = '0198d0a0-0000-7000-8000-00000000000b';
const asset = (id: string): string => `{"__type":"core/ASSET","info":{"id":"${id}"}}`;
const loads = (value: string): string => `{"1":{"class_type":"Load","inputs":{"image":${value}}}}`;
const shows = (value: string): string => `{"1":{"class_type":"Show","inputs":{"text":${value}}}}`;

function exact(text: string): { text: string; assetIds: string[] } {
  const { text: pieces, assetIds } = exactGraph(parseWorkflow(text), CATALOGUE);
  return { text: pieces.join(''), assetIds };
}

const textOf = (text: string): string => exact(text).text;

/** An object with its members in another order, at every depth. */
function shuffled(value: unknown, turn: number): unknown {
  if (Array.isArray(value)) return value.map((item) => shuffled(item, turn));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, shuffled(inner, turn)] as const);
  const at = turn % Math.max(1, entries.length);
  return Object.fromEntries([...entries.slice(at), ...entries.slice(0, at)].reverse());
}

const key = fc.stringMatching(/^[a-z_][a-z_0-9]{0,5}$/);
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));
const graph = fc.dictionary(
  key,
  fc.record({
    class_type: fc.constantFrom('Load', 'Show', 'Dice'),
    inputs: fc.dictionary(key, value, { maxKeys: 4, noNullPrototype: true }),
  }),
  { minKeys: 1, maxKeys: 4, noNullPrototype: true },
);

describe('the exact graph', () => {
  it('does not depend on the order of keys, nor on spaces', () => {
    fc.assert(
      fc.property(graph, fc.nat(5), (made, turn) => {
        expect(textOf(JSON.stringify(shuffled(made, turn), null, 2))).toBe(textOf(JSON.stringify(made)));
      }),
    );
  });

  it('is another one for every other graph', () => {
    fc.assert(
      fc.property(graph, graph, (one, other) => {
        const isSame = JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
        expect(textOf(JSON.stringify(one)) === textOf(JSON.stringify(other))).toBe(isSame);
      }),
    );
  });

  it('is another one when any one value changes', () => {
    fc.assert(
      fc.property(graph, key, key, value, (made, node, name, changed) => {
        const before = made[node]?.inputs[name];
        const next = structuredClone(made);
        const { inputs = {}, class_type = 'Show' } = next[node] ?? {};
        next[node] = { class_type, inputs: { ...inputs, [name]: changed } };
        const isSame = before !== undefined && JSON.stringify(sorted(before)) === JSON.stringify(sorted(changed));
        expect(textOf(JSON.stringify(next)) === textOf(JSON.stringify(made))).toBe(isSame);
      }),
    );
  });

  it.each([
    ['a seed', shows('1'), shows('2')],
    ['a seed of 64 bits', shows('18446744073709551615'), shows('18446744073709551614')],
    ['the spelling of a number', shows('1'), shows('1.0')],
    ['a number in quotes', shows('1'), shows('"1"')],
    [
      'a title',
      '{"1":{"class_type":"Dice","inputs":{},"_meta":{"title":"a"}}}',
      '{"1":{"class_type":"Dice","inputs":{}}}',
    ],
    ['a class', '{"1":{"class_type":"Dice","inputs":{}}}', '{"1":{"class_type":"Show","inputs":{}}}'],
    ['an id', '{"1":{"class_type":"Dice","inputs":{}}}', '{"2":{"class_type":"Dice","inputs":{}}}'],
    ['a link', shows('["2",0]'), shows('["2",1]')],
    ['an asset where a node takes none', shows(asset(ASSET)), shows(asset(OTHER))],
    ['a file and its placeholder as a text', loads(asset(ASSET)), loads('"@"')],
    ['the nesting of lists', shows('[[1],2]'), shows('[[1,2]]')],
  ])('distinguishes %s', (_, one, other) => {
    expect(textOf(one)).not.toBe(textOf(other));
  });

  it.each([
    ['another spelling of a text', shows('"\\u00e9"'), shows('"é"')],
    [
      'the first of duplicates',
      '{"1":{"class_type":"Dice","inputs":{"a":1,"a":2}}}',
      '{"1":{"class_type":"Dice","inputs":{"a":2}}}',
    ],
    [
      'the id and the hints of a file',
      loads(asset(ASSET)),
      loads(asset(OTHER).replace('"info":{', '"info":{"hash":"x",')),
    ],
  ])('leaves out %s', (_, one, other) => {
    expect(textOf(one)).toBe(textOf(other));
  });

  it('names files in the order of its text, however the graph is written, each as often as it has it', () => {
    const node = (id: string): string => `{"class_type":"Load","inputs":{"image":${asset(id)}}}`;
    expect(exact(`{"2":${node(OTHER)},"1":${node(ASSET)},"3":${node(ASSET)}}`).assetIds).toEqual([ASSET, OTHER, ASSET]);
    expect(exact(shows(asset(ASSET))).assetIds).toEqual([]);
  });

  it('knows which classes are not declared to be deterministic', () => {
    const of = (...names: string[]): string =>
      JSON.stringify(Object.fromEntries(names.map((name, at) => [at, { class_type: name, inputs: {} }])));
    expect(undeclaredClasses(parseWorkflow(of('Load', 'Show')), CATALOGUE)).toEqual([]);
    expect(undeclaredClasses(parseWorkflow(of('Load', 'Dice', 'constructor', 'Dice')), CATALOGUE)).toEqual([
      'Dice',
      'constructor',
    ]);
  });
});

/** With the keys of each object in one order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.entries(value)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, inner]) => [name, sorted(inner)] as const)
    .reduce<unknown>((list, entry) => [list, entry], 'object');
}
