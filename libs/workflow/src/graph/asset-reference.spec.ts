import { assetReferences } from './asset-reference';
import { graphText, nodeText } from '../fixtures/graph';
import { parseWorkflow } from './workflow';

const ID = '0197aa00-0000-7000-8000-00000000000a';
const asset = (info: string = `{"id": "${ID}"}`): string => `{"__type": "core/ASSET", "info": ${info}}`;
const found = (inputs: string): ReturnType<typeof assetReferences> =>
  assetReferences(parseWorkflow(graphText({ '7': nodeText('LoadImage', inputs) })));

/** Where the value of `image` starts in the graphs of `found`. */
const START = graphText({ '7': nodeText('LoadImage', '{"image": @}') }).indexOf('@');

describe('an asset reference', () => {
  it('is found at any depth, in lists too, with the node and the input that hold it', () => {
    const text = graphText({
      '1': nodeText('A', `{"image": ${asset()}, "n": 5}`),
      '2': nodeText('B', `{"files": [["x", ${asset()}], {"deep": {"er": [${asset()}]}}]}`),
    });
    const { references, malformed } = assetReferences(parseWorkflow(text));
    expect(references.map(({ nodeId, field, id }) => [nodeId, field, id])).toEqual([
      ['1', 'image', ID],
      ['2', 'files', ID],
      ['2', 'files', ID],
    ]);
    for (const { start, end } of references) expect(text.slice(start, end)).toBe(asset());
    expect(malformed).toEqual([]);
  });

  it('carries its hints where it has any, tolerates unknown keys, and its id is read in either case', () => {
    const info = `{"id": "${ID.toUpperCase()}", "hash": "blake3:ab", "file_path": "a/b.png", "size": 3}`;
    const reference = `{"x": 1, "info": ${info}, "__type": "core\\/ASSET"}`;
    expect(found(`{"image": ${reference}}`).references).toEqual([
      {
        nodeId: '7',
        field: 'image',
        start: START,
        end: START + reference.length,
        id: ID,
        hash: 'blake3:ab',
        filePath: 'a/b.png',
      },
    ]);
    expect(found(`{"image": ${asset(`{"id": "${ID}", "hash": null, "file_path": 5}`)}}`).references[0]).toEqual({
      nodeId: '7',
      field: 'image',
      start: START,
      end: expect.any(Number) as number,
      id: ID,
    });
  });

  it.each(['null', '{}', '"x"', '[]', '{"id": 5}', '{"id": "nope"}', '{"id": null}', `{"ID": "${ID}"}`])(
    'with the info %s is malformed, and its position is returned',
    (info) => {
      const { references, malformed } = found(`{"image": ${asset(info)}}`);
      expect(references).toEqual([]);
      expect(malformed).toEqual([{ nodeId: '7', field: 'image', start: START, end: START + asset(info).length }]);
    },
  );

  it('of tens of thousands that are malformed some are kept, and all are counted', () => {
    const { malformed, malformedCount } = found(
      `{"image": [${Array<string>(20_000).fill('{"__type":"core/ASSET"}').join()}]}`,
    );
    expect([malformed.length, malformedCount]).toEqual([1_000, 20_000]);
  });

  it('without any info is malformed', () => {
    expect(found('{"image": {"__type": "core/ASSET"}}').malformed).toHaveLength(1);
  });

  it.each(['{"__type": "core/OTHER", "info": {}}', '{"__type": 5}', '"core/ASSET"', '["__type", "core/ASSET"]'])(
    'is not seen in %s',
    (value) => {
      expect(found(`{"image": ${value}}`)).toEqual({ references: [], mentions: [], malformed: [], malformedCount: 0 });
    },
  );

  it('in a duplicate that a later one replaces does not count', () => {
    expect(found(`{"image": ${asset()}, "image": 1}`).references).toEqual([]);
    expect(found(`{"image": {"a": ${asset()}, "a": 1}}`).references).toEqual([]);
  });

  describe('that no input has as a value', () => {
    const [B, C] = [ID.replace(/a$/, 'b'), ID.replace(/a$/, 'c')];
    const of = (node: string): ReturnType<typeof assetReferences> => assetReferences(parseWorkflow(`{"7": ${node}}`));
    const placesOf = ({ mentions }: ReturnType<typeof assetReferences>): string[] =>
      mentions.map(({ nodeId, field, id }) => `${nodeId} ${field} ${id}`);

    it('is a mention: in other keys of a node, at any depth', () => {
      const at = of(
        `{"_meta": {"title": "x", "from": [${asset(`{"id": "${B}"}`)}]}, "class_type": "A", "inputs": {"image": ${asset()}}, ` +
          `"note": ${asset(`{"id": "${C}"}`)}}`,
      );
      expect(placesOf(at)).toEqual([`7 _meta ${B}`, `7 note ${C}`]);
      expect(at.references.map(({ id }) => id)).toEqual([ID]);
    });

    it('is a mention: inside another reference, which takes its place in the run', () => {
      const at = found(`{"image": ${asset(`{"id": "${ID}", "x": [${asset(`{"id": "${B}"}`)}]}`)}}`);
      expect(placesOf(at)).toEqual([`7 image ${B}`]);
      expect(at.references.map(({ id }) => id)).toEqual([ID]);
    });

    it('is a mention: a node itself, or all of its inputs', () => {
      const itself = `"__type": "core/ASSET", "info": {"id": "${B}"}`;
      expect(placesOf(of(`{"class_type": "A", "inputs": {}, ${itself}}`))).toEqual([`7  ${B}`]);
      const at = of(`{"class_type": "A", "inputs": {${itself}, "image": ${asset()}}}`);
      expect(placesOf(at)).toEqual([`7 inputs ${B}`]);
      expect(at.references.map(({ id }) => id)).toEqual([ID]);
    });

    it('is malformed without an id, too', () => {
      expect(of(`{"class_type": "A", "inputs": {}, "_meta": ${asset('{}')}}`).malformed).toMatchObject([
        { nodeId: '7', field: '_meta' },
      ]);
    });
  });
});
