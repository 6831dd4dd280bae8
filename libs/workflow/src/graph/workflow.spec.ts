import fc from 'fast-check';
import { member, sliceOf } from '../json/json-document';
import { parseJson } from '../json/json-parser';
import { isUiFormat, linkOf, parseWorkflow, workflowOf } from './workflow';

describe('a link', () => {
  it.each([
    ['["1", 0]', { nodeId: '1', slot: 0 }],
    ['["a b", 12]', { nodeId: 'a b', slot: 12 }],
    ['["1", -0]', { nodeId: '1', slot: 0 }],
  ])('is read from %s', (text, link) => {
    expect(linkOf(parseJson(text))).toStrictEqual(link);
  });

  it.each([
    '[1, 0]',
    '["1", -1]',
    '["1", 1.0]',
    '["1", 1e0]',
    '["1", "0"]',
    '["1", true]',
    '["1"]',
    '["1", 0, 0]',
    '{}',
    '"1"',
    '["1", 9999999999]',
  ])('is not read from %s', (text) => {
    expect(linkOf(parseJson(text))).toBeNull();
  });
});

describe('the UI format', () => {
  it.each([
    ['{"nodes": [], "links": []}', true],
    ['{"nodes": [{"id": 1}], "links": [], "version": 0.4}', true],
    ['{"nodes": {}, "links": []}', false],
    ['{"nodes": []}', false],
    ['{"nodes": {"class_type": "A", "inputs": {}}, "links": {"class_type": "B", "inputs": {}}}', false],
    ['[]', false],
  ])('of %s is recognised: %s', (text, isUi) => {
    expect(isUiFormat(parseJson(text))).toBe(isUi);
  });
});

describe('parseWorkflow', () => {
  it('reads nodes in text order, with ids of any form, and tolerates unknown keys', () => {
    const graph = parseWorkflow(
      '{"10": {"class_type": "A", "inputs": {"x": 1}, "_meta": {"title": "t"}}, "9": {"inputs": {}, "class_type": "B"}}',
    );
    expect([...graph.nodes.values()].map(({ id, classType }) => [id, classType])).toEqual([
      ['10', 'A'],
      ['9', 'B'],
    ]);
    expect(graph.nodes.get('10')?.inputs.get('x')).toMatchObject({ kind: 'number', raw: '1' });
  });

  it('leaves out nodes of unsound shape, the last of duplicates deciding', () => {
    const graph = parseWorkflow(
      '{"1": {"class_type": "A", "inputs": {}}, "1": 5, "2": {"class_type": 1, "inputs": {}}, "3": []}',
    );
    expect(graph.nodes.size).toBe(0);
    expect(parseWorkflow('[]').nodes.size).toBe(0);
  });

  it('keeps every digit, key order and escape: the text of any input is the text that was given', () => {
    const number = fc.oneof(
      fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
      fc.constantFrom('1.0', '1e2', '-0', '0.10'),
    );
    const string = fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text));
    const escaped = fc.nat(0xffff).map((code) => `"\\u${code.toString(16).padStart(4, '0')}"`);
    fc.assert(
      fc.property(fc.array(fc.oneof(number, string, escaped), { maxLength: 8 }), (values) => {
        const inputs = values.map((value, at) => `"${values.length - at}" : ${value}`).join(' ,');
        const text = `{ "1":{"class_type":"A","inputs":{${inputs}}}}`;
        const node = parseWorkflow(text).nodes.get('1');
        expect([...(node?.inputs ?? [])].map(([name, value]) => [name, sliceOf(value, text)])).toEqual(
          values.map((value, at) => [String(values.length - at), value]),
        );
      }),
    );
  });
});

describe('a graph inside a request body', () => {
  it('is the member of the body, with no second parse, and its own text is what was sent', () => {
    const workflow = '{"10" : {"class_type": "A", "inputs": {"seed": 18446744073709551615, "x": 1.0}}, "9": {}}';
    const body = `{"metadata": {"a": "b"}, "workflow": ${workflow} , "other": 1}`;
    const root = member(parseJson(body), 'workflow');
    if (!root) throw new Error('The body has no workflow.');
    const graph = workflowOf(root, body);
    expect(sliceOf(graph.root, graph.text)).toBe(workflow);
    const seed = graph.nodes.get('10')?.inputs.get('seed');
    expect(seed && sliceOf(seed, graph.text)).toBe('18446744073709551615');
  });
});
