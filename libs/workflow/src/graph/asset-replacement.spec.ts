import fc from 'fast-check';
import { graphText, nodeText } from '../fixtures/graph';
import { assetReferences } from './asset-reference';
import { replaceAssetReferences } from './asset-replacement';
import { parseWorkflow } from './workflow';

const ID = '0197aa00-0000-7000-8000-00000000000a';
const ASSET = `{"__type": "core/ASSET", "info": {"id": "${ID}"}}`;

describe('replaceAssetReferences', () => {
  it('puts strings in the places of references and leaves every other character as it was', () => {
    const raw = fc.constantFrom(
      '18446744073709551615',
      '1.0',
      '-0',
      '1E5',
      '"\\u00e9\\/\\ud800"',
      '"é 😀"',
      'null',
      '[ 1 ,2]',
    );
    const key = fc.constantFrom('"10"', '"9"', '"a"', '"\\u0061b"', '"__proto__"');
    const value = fc.oneof(
      raw.map((text) => ({ text, isAsset: false })),
      fc.constant({ text: ASSET, isAsset: true }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(key, value, fc.boolean())), fc.string({ unit: 'binary' }), (items, name) => {
        const inputs = (assetText: string): string => {
          const list = items.map(([name, { text, isAsset }, isNested]) => {
            const written = isAsset ? assetText : text;
            return isNested ? `{${name} :[${written}\n]}` : written;
          });
          return `{ "x" : [ ${list.join(' , ')} ] }`;
        };
        const text = graphText([
          ['10', nodeText('A', inputs(ASSET))],
          ['9', nodeText('B', '{ }')],
        ]);
        const graph = parseWorkflow(text);
        const { references } = assetReferences(graph);
        const replaced = replaceAssetReferences(
          graph,
          references.map((reference) => ({ ...reference, value: name })),
        );
        expect(replaced.text).toBe(
          graphText([
            ['10', nodeText('A', inputs(JSON.stringify(name)))],
            ['9', nodeText('B', '{ }')],
          ]),
        );
        expect(replaced).toEqual(parseWorkflow(replaced.text));
        expect(assetReferences(replaced).references).toEqual([]);
      }),
    );
  });

  it('takes the references in any order', () => {
    const graph = parseWorkflow(`[${ASSET},${ASSET}]`);
    const length = ASSET.length;
    const second = { start: length + 2, end: 2 * length + 2, value: 'b' };
    const replaced = replaceAssetReferences(graph, [second, { start: 1, end: length + 1, value: 'a' }]);
    expect(replaced).toEqual(parseWorkflow('["a","b"]'));
    expect(replaceAssetReferences(graph, [])).toBe(graph);
  });

  it.each([
    [[{ start: 0, end: 2, value: 'a' }]],
    [[{ start: 1, end: 9, value: 'a' }]],
    [[{ start: 1, end: 7, value: 'a' }]],
    [
      [
        { start: 1, end: 3, value: 'a' },
        { start: 1, end: 3, value: 'b' },
      ],
    ],
  ])('refuses places that hold no object, or that overlap: %j', (replacements) => {
    expect(() => replaceAssetReferences(parseWorkflow('[{}, {}]'), replacements)).toThrow(RangeError);
  });
});
