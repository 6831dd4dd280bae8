import { planRun } from './run-plan';
import { signaturesOf } from './signature';

type Graph = Record<string, { class_type: string; inputs: Record<string, unknown> }>;

async function signatures(graph: Graph | string, content = 'v1'): Promise<Map<string, string>> {
  const planned = planRun(typeof graph === 'string' ? graph : JSON.stringify(graph));
  if ('failure' in planned) throw new Error(planned.failure.message);
  return signaturesOf(planned.plan.nodes.values(), () => Promise.resolve(content));
}

const graph = (color: number): Graph => ({
  '1': { class_type: 'EmptyImage', inputs: { width: 8, height: 8, batch_size: 1, color } },
  '2': { class_type: 'ImageInvert', inputs: { image: ['1', 0] } },
  '3': { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_prefix: 'x' } },
});

describe('the signature of a node', () => {
  it('does not depend on ids, nor on the order of inputs', async () => {
    const one = await signatures(graph(5));
    const renamed = JSON.parse(JSON.stringify(graph(5)).replaceAll('"1"', '"a"').replaceAll('"2"', '"b"')) as Graph;
    const two = await signatures({
      ...renamed,
      a: { class_type: 'EmptyImage', inputs: { color: 5, batch_size: 1, height: 8, width: 8 } },
    });
    expect(two.get('b')).toBe(one.get('2'));
  });

  it('changes with a literal of any ancestor', async () => {
    const [one, two] = [await signatures(graph(5)), await signatures(graph(6))];
    expect(two.get('1')).not.toBe(one.get('1'));
    expect(two.get('2')).not.toBe(one.get('2'));
  });

  it('is the same for literals that a node can not distinguish, and another for others', async () => {
    const shown = (value: string): string =>
      `{"1":{"class_type":"PrimitiveInt","inputs":{"value":${value}}},"2":{"class_type":"PreviewAny","inputs":{"source":["1",0]}}}`;
    expect((await signatures(shown('"64"'))).get('1')).toBe((await signatures(shown('64.9'))).get('1'));
    expect((await signatures(shown('9007199254740993'))).get('1')).not.toBe(
      (await signatures(shown('9007199254740992'))).get('1'),
    );
    const any = (value: string): string => `{"2":{"class_type":"PreviewAny","inputs":{"source":${value}}}}`;
    const texts = ['1', '1.0', '"1"', 'true', 'null', '-0.0', '0.0', '{"a":1}', '{"a":1.0}'];
    const all = await Promise.all(texts.map(async (text) => (await signatures(any(text))).get('2')));
    expect(new Set(all).size).toBe(texts.length);
  });

  it('changes with the content of a file, not with its name', async () => {
    const load = (name: string): Graph => ({
      '1': { class_type: 'LoadImage', inputs: { image: name } },
      '2': { class_type: 'PreviewImage', inputs: { images: ['1', 0] } },
    });
    const one = (await signatures(load('a.png'))).get('1');
    expect((await signatures(load('b.png'))).get('1')).toBe(one);
    expect((await signatures(load('a.png'), 'v2')).get('1')).not.toBe(one);
  });
});
