import fc from 'fast-check';
import { assetReference, GraphText, valueJson } from './graph-text';

const SEED = '18446744073709551615';
const TEXT = `{
  "3": {"class_type": "KSampler", "inputs": {"seed": ${SEED}, "cfg": 1.0, "name": "caf\\u00e9", "model": ["4", 0]}},
  "10": { "class_type":"LoadImage" ,"inputs":{ "image" : "old.png" }},
  "a.b": {"class_type": "Note", "inputs": {}}
}
`;

/** The text after edits of the command line's kind. */
function edited(text: string, ...edits: [target: string, value: string][]): string {
  const graph = GraphText.parse(text, 'graph.json');
  for (const [target, value] of edits) {
    const place = graph.place(target);
    graph.set(place, valueJson(place.value, value, false));
  }
  return graph.toString();
}

describe('the text of a graph', () => {
  it('is the same to the byte when nothing is set', () => {
    expect(GraphText.parse(TEXT, 'graph.json').toString()).toBe(TEXT);
  });

  it('changes where a value is set and nowhere else', () => {
    expect(edited(TEXT, ['3.cfg', '2.0'])).toBe(TEXT.replace('1.0', '2.0'));
  });

  it('takes a 64-bit seed digit for digit', () => {
    expect(edited(TEXT, ['3.seed', '18446744073709551614'])).toBe(TEXT.replace(SEED, '18446744073709551614'));
  });

  it('keeps a string a string, even when it is typed as digits', () => {
    expect(edited(TEXT, ['3.name', '2024'])).toContain('"name": "2024"');
  });

  it('replaces a file name by a reference to an asset', () => {
    const graph = GraphText.parse(TEXT, 'graph.json');
    graph.set(graph.place('10.image'), assetReference('an-id'));
    expect(graph.toString()).toBe(TEXT.replace('"old.png"', '{"__type":"core/ASSET","info":{"id":"an-id"}}'));
  });

  it('adds an input that was absent, after the others and spaced as they are', () => {
    const changed = edited(TEXT, ['10.channel', 'red'], ['10.size', '3'], ['a.b.text', 'hello']);
    expect(changed).toContain('{ "image" : "old.png", "channel" : "red", "size" : 3 }');
    expect(changed).toContain('"inputs": {"text": "hello"}');
    expect(JSON.parse(changed)).toMatchObject({ '10': { inputs: { image: 'old.png', channel: 'red', size: 3 } } });
  });

  it('finds a node whose id holds a dot', () => {
    expect(GraphText.parse(TEXT, 'graph.json').place('a.b.c.d')).toMatchObject({ nodeId: 'a.b', field: 'c.d' });
  });

  it('changes the last of duplicate members, which is the one that readers take', () => {
    expect(edited('{"1":{"inputs":{"x":1,"x":2}}}', ['1.x', '3'])).toBe('{"1":{"inputs":{"x":1,"x":3}}}');
  });

  it('is read past a byte order mark, which does not belong to JSON', () => {
    expect(GraphText.parse(`\ufeff${TEXT}`, 'graph.json').toString()).toBe(TEXT);
  });

  it('knows the classes of its nodes', () => {
    expect(GraphText.parse(TEXT, 'graph.json').classes().get('10')).toBe('LoadImage');
  });

  it.each([
    ['a node that is not there', '7.x', /no node for "7.x"/],
    ['an input given twice', '3.cfg', /given twice/],
  ])('refuses %s', (_what, target, message) => {
    expect(() => edited(TEXT, ['3.cfg', '1'], [target, '1'])).toThrow(message);
  });

  it.each([
    ['{"1": {"inputs": {"x": 1,}}}', /line 1, column 26/],
    ['{\n "1": tru\n}', /line 2/],
    ['[1]', /not a graph/],
    ['{"nodes":[],"links":[]}', /editor's own format/],
    ['[['.repeat(200_000), /not JSON/],
  ])('is refused when it is not a graph in API format: %.40s', (text, message) => {
    expect(() => GraphText.parse(text, 'graph.json')).toThrow(message);
  });

  it('keeps every value that was not set, and holds every value that was, for any graph', () => {
    const inputs = fc.dictionary(fc.string({ minLength: 1 }), fc.jsonValue(), { minKeys: 1, maxKeys: 5 });
    const graphs = fc.dictionary(fc.stringMatching(/^\d{1,3}$/), fc.record({ inputs }), { minKeys: 1, maxKeys: 5 });
    fc.assert(
      fc.property(graphs, fc.jsonValue(), fc.constantFrom(0, 1, 2), fc.nat(), (graph, value, indent, pick) => {
        const ids = Object.keys(graph);
        const id = ids[pick % ids.length] ?? '';
        const field = Object.keys(graph[id]?.inputs ?? {})[0] ?? '';
        const text = JSON.stringify(graph, null, indent);
        const parsed = GraphText.parse(text, 'graph.json');
        parsed.set(parsed.place(`${id}.${field}`), JSON.stringify(value));
        const node = { ...graph[id], inputs: { ...graph[id]?.inputs, [field]: value } };
        expect(JSON.parse(parsed.toString())).toEqual(JSON.parse(JSON.stringify({ ...graph, [id]: node })));
      }),
    );
  });
});

describe('a value typed on the command line', () => {
  it.each([
    ['42', '42'],
    ['1.0', '1.0'],
    [' true ', 'true'],
    ['["4",0]', '["4",0]'],
    ['lanczos', '"lanczos"'],
    ['say "hi"\n', '"say \\"hi\\"\\n"'],
  ])('is JSON where it can be, else a string: %s', (value, json) => {
    expect(valueJson(undefined, value, false)).toBe(json);
  });

  it('can be made JSON where the graph has a string, and is refused when it is none', () => {
    const { value } = GraphText.parse(TEXT, 'graph.json').place('3.name');
    expect(valueJson(value, '7', true)).toBe('7');
    expect(() => valueJson(value, 'seven', true)).toThrow(/not JSON/);
  });
});
