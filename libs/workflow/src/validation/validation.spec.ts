import type { InputSpec, NodeCatalogue } from '@millrace/contracts';
import { realCatalogue, realGraphs } from '../fixtures/catalogue';
import { faultsOf, graphText, nodeText } from '../fixtures/graph';
import { validateWorkflow } from './validation';
import { parseWorkflow } from '../graph/workflow';

const real = realCatalogue();
const save = (from: [string, number] = ['1', 0]): string =>
  nodeText('SaveImage', { images: from, filename_prefix: 'x' });
const image = (inputs: Record<string, unknown> = {}): string =>
  nodeText('EmptyImage', { width: 64, height: 64, batch_size: 1, color: 0, ...inputs });

function messageOf(text: string, nodeId: string, catalogue: NodeCatalogue = real): string | undefined {
  return validateWorkflow(parseWorkflow(text), catalogue)[nodeId]?.[0]?.message;
}

/** A catalogue with an output class `Probe` of one input `x`, and one with a spare output of each type asked for. */
function probe(spec: Partial<InputSpec>, outputs: string[] = []): NodeCatalogue {
  const common = { displayName: '', category: '', description: '' };
  return {
    Probe: { ...common, inputs: { x: { type: 'INT', required: true, ...spec } }, outputs: [], outputNode: true },
    Source: {
      ...common,
      inputs: {},
      outputs: outputs.map((type) => ({ type, name: type, list: false })),
      outputNode: false,
    },
  };
}

/** The reason for which `x` is refused, or null. */
function reasonFor(x: string, spec: Partial<InputSpec>): string | null {
  return faultsOf(graphText({ '1': nodeText('Probe', `{"x": ${x}}`) }), probe(spec))[0]?.[2] ?? null;
}

function reasonForLink(from: string, to: string): string | null {
  const graph = graphText({ '1': nodeText('Probe', { x: ['2', 0] }), '2': nodeText('Source') });
  return faultsOf(graph, probe({ type: to }, [from]))[0]?.[2] ?? null;
}

describe('a graph that a real ComfyUI ran', () => {
  it.each(realGraphs())('passes: %s', (_name, text) => {
    expect(validateWorkflow(parseWorkflow(text), real)).toEqual({});
  });
});

describe('the shape of a graph', () => {
  it.each(['[]', '5', 'null', '"x"'])('%s is not_an_object as a whole', (text) => {
    expect(faultsOf(text, real)).toEqual([['', '', 'not_an_object']]);
  });

  it('nodes must be objects with a string class_type and an object inputs, needed or not', () => {
    const broken = graphText({
      a: '5',
      b: '{"inputs": {}}',
      c: '{"class_type": 3, "inputs": {}}',
      d: '{"class_type": "EmptyImage"}',
      e: '{"class_type": "EmptyImage", "inputs": null}',
      f: '{"class_type": "EmptyImage", "inputs": []}',
      '1': image(),
      '2': save(),
    });
    expect(faultsOf(broken, real)).toEqual([
      ['a', '', 'not_an_object'],
      ['b', 'class_type', 'missing_input'],
      ['c', 'class_type', 'invalid_type'],
      ['d', 'inputs', 'missing_input'],
      ['e', 'inputs', 'not_an_object'],
      ['f', 'inputs', 'not_an_object'],
    ]);
  });

  it('a node linked to an unsound one is not itself at fault', () => {
    expect(faultsOf(graphText({ '1': '{"class_type": "EmptyImage"}', '2': save() }), real)).toEqual([
      ['1', 'inputs', 'missing_input'],
    ]);
  });

  it.each(['{}', graphText({ '1': image() })])('%s has no_outputs', (text) => {
    expect(faultsOf(text, real)).toContainEqual(['', '', 'no_outputs']);
  });

  it('of too many nodes, or too many in a row, is above_max as a whole', () => {
    expect(faultsOf(graphText({ '1': image(), '2': save() }), real, { maxNodes: 1 })).toEqual([['', '', 'above_max']]);
    expect(faultsOf(graphText({ '1': image(), '2': save() }), real, { maxDepth: 1 })).toEqual([['', '', 'above_max']]);
    expect(faultsOf(graphText({ '1': image(), '2': save() }), real, { maxDepth: 2 })).toEqual([]);
  });

  it('of 10,000 nodes in a row is measured without running out of stack', () => {
    const chain = Array.from({ length: 10_000 }, (_, at): [string, string] => [
      String(at),
      at === 0 ? image() : nodeText('ImageInvert', { image: [String(at - 1), 0] }),
    ]);
    const text = graphText([...chain, ['end', save(['9999', 0])]]);
    expect(faultsOf(text, real, { maxNodes: 20_000 })).toEqual([['', '', 'above_max']]);
    expect(faultsOf(text, real, { maxNodes: 20_000, maxDepth: 20_000 })).toEqual([]);
  });

  it('lists as many faults as asked for and says that there are more', () => {
    const errors = validateWorkflow(parseWorkflow(graphText({ a: '1', b: '2', c: '3' })), real, { maxFaults: 2 });
    expect(Object.keys(errors)).toEqual(['a', 'b']);
    expect(errors['b']?.[0]?.message).toMatch(/Further faults are not listed\.$/);
  });
});

describe('a node class', () => {
  it('that is unknown is reported with the nearest name, wherever the node stands', () => {
    const text = graphText({ '1': image(), '2': save(), '3': nodeText('emptyimage') });
    expect(faultsOf(text, real)).toEqual([['3', 'class_type', 'unknown_node_class']]);
    expect(messageOf(text, '3')).toBe('There is no node class "emptyimage" here. Did you mean "EmptyImage"?');
  });

  it('that resembles none is reported without a guess', () => {
    expect(messageOf(graphText({ '1': nodeText('Quux'), '2': save() }), '1')).toBe(
      'There is no node class "Quux" here.',
    );
  });

  it.each(['constructor', '__proto__', 'toString'])('called %s is unknown like any other', (name) => {
    expect(faultsOf(graphText({ '1': nodeText(name) }), real)).toEqual([['1', 'class_type', 'unknown_node_class']]);
  });

  it('that is unknown hides no fault of the nodes around it', () => {
    const text = graphText({ '1': image({ width: 0 }), '2': nodeText('SaveImag', { images: ['1', 0], y: ['9', 0] }) });
    expect(faultsOf(text, real)).toEqual([
      ['1', 'width', 'below_min'],
      ['2', 'class_type', 'unknown_node_class'],
      ['2', 'y', 'bad_link'],
    ]);
  });
});

describe('all faults of a graph', () => {
  it('are reported at once', () => {
    const sampler = nodeText(
      'KSampler',
      `{"seed": -1, "steps": "many", "cfg": 101, "sampler_name": "eulr", "scheduler": "normal",
      "model": ["1", 9], "positive": ["77", 0], "negative": ["1", 0], "latent_image": 5}`,
    );
    expect(faultsOf(graphText({ '1': image(), '2': sampler, '3': save(['2', 0]) }), real)).toEqual([
      ['2', 'denoise', 'missing_input'],
      ['2', 'seed', 'below_min'],
      ['2', 'steps', 'invalid_type'],
      ['2', 'cfg', 'above_max'],
      ['2', 'sampler_name', 'not_in_list'],
      ['2', 'model', 'bad_output_slot'],
      ['2', 'positive', 'bad_link'],
      ['2', 'negative', 'type_mismatch'],
      ['2', 'latent_image', 'invalid_type'],
      ['3', 'images', 'type_mismatch'],
    ]);
  });

  it('of a node called __proto__ are reported under that name', () => {
    const errors = validateWorkflow(parseWorkflow(graphText([['__proto__', '5']])), real);
    expect(JSON.parse(JSON.stringify(errors)) as object).toHaveProperty(['__proto__', 0, 'reason'], 'not_an_object');
  });
});

describe('a literal', () => {
  it.each([
    ['64', null],
    ['"64"', null],
    ['" +6_4 "', null],
    ['64.9', null],
    ['6.49e1', null],
    ['true', null],
    ['"64.9"', 'invalid_type'],
    ['"0x40"', 'invalid_type'],
    ['"abc"', 'invalid_type'],
    ['null', 'invalid_type'],
    ['{}', 'invalid_type'],
    ['1e400', 'invalid_type'],
    ['0.9', 'below_min'],
    ['false', 'below_min'],
    ['100.9', null],
    ['101', 'above_max'],
    ['"101"', 'above_max'],
  ])('%s for an INT from 1 to 100 is refused as: %s', (value, reason) => {
    expect(reasonFor(value, { type: 'INT', min: '1', max: '100' })).toBe(reason);
  });

  it.each([
    ['18446744073709551615', null],
    ['"18446744073709551615"', null],
    ['18446744073709551616', 'above_max'],
    ['18446744073709551615.0', 'above_max'],
    ['1.844674407370955e19', null],
    ['-1', 'below_min'],
    ['-0', null],
    ['9'.repeat(400), 'above_max'],
    ['9'.repeat(5_000), 'invalid_type'],
  ])('%s for a seed of 64 bits is refused as: %s', (value, reason) => {
    expect(reasonFor(value, { type: 'INT', min: '0', max: '18446744073709551615' })).toBe(reason);
  });

  it.each([
    ['-9223372036854775807', null],
    ['-9223372036854775808', 'below_min'],
  ])('%s is compared exactly with a bound of 64 bits: %s', (value, reason) => {
    expect(reasonFor(value, { type: 'INT', min: '-9223372036854775807' })).toBe(reason);
  });

  it.each([
    ['1', null],
    ['1.0', null],
    ['"1e0"', null],
    ['" .5 "', null],
    ['true', null],
    ['"nan"', null],
    ['1.0000001', 'above_max'],
    ['"inf"', 'above_max'],
    ['1e999', 'above_max'],
    ['-1e-9', 'below_min'],
    ['"1,5"', 'invalid_type'],
    ['""', 'invalid_type'],
    ['null', 'invalid_type'],
    ['9'.repeat(400), 'invalid_type'],
  ])('%s for a FLOAT from 0.0 to 1.0 is refused as: %s', (value, reason) => {
    expect(reasonFor(value, { type: 'FLOAT', min: '0.0', max: '1.0' })).toBe(reason);
  });

  it.each(['5', 'null', '{}', '"x"', 'false', '{"__value__": [1, 2, 3]}', '{"__value__": ["77", 0]}'])(
    '%s can be a STRING and a BOOLEAN, which hold anything',
    (value) => {
      expect([reasonFor(value, { type: 'STRING' }), reasonFor(value, { type: 'BOOLEAN' })]).toEqual([null, null]);
    },
  );

  it.each([
    ['"a"', null],
    ['1', null],
    ['1.0', null],
    ['true', null],
    ['"1"', 'not_in_list'],
    ['0', 'not_in_list'],
    ['"A"', 'not_in_list'],
    ['null', 'not_in_list'],
    ['{}', 'not_in_list'],
    ['{"__value__": ["a"]}', 'not_in_list'],
  ])('%s for a choice of "a" and 1 is refused as: %s', (value, reason) => {
    expect(reasonFor(value, { type: 'COMBO', options: ['a', 1] })).toBe(reason);
  });

  it('names the options where they are few', () => {
    const text = graphText({ '1': nodeText('Probe', { x: 'c' }) });
    expect(messageOf(text, '1', probe({ type: 'COMBO', options: ['a', 'b'] }))).toBe(
      'x must be one of "a", "b", not "c".',
    );
    const many = Array.from({ length: 21 }, (_, at) => `option ${at}`);
    expect(messageOf(text, '1', probe({ type: 'COMBO', options: many }))).toBe(
      'x must be one of the 21 options of this input, not "c".',
    );
    expect(messageOf(text, '1', probe({ type: 'COMBO', options: [] }))).toBe(
      'x must be one of the options, of which there are none here, not "c".',
    );
  });

  it('may be anything where the options are not known beforehand', () => {
    expect(reasonFor('"any-other.safetensors"', { type: 'COMBO' })).toBeNull();
  });

  it.each([
    ['["a", "b"]', null],
    ['[]', null],
    ['"a"', null],
    ['{"__value__": ["a", "b"]}', null],
    ['["a", "c"]', 'not_in_list'],
    ['["a", 0]', 'bad_link'],
  ])('%s for a choice of several is refused as: %s', (value, reason) => {
    expect(reasonFor(value, { type: 'COMBO', options: ['a', 'b'], multiple: true })).toBe(reason);
  });

  it('cannot stand for what only a link can carry, but null can leave an optional input open', () => {
    expect(reasonFor('"picture"', { type: 'IMAGE' })).toBe('invalid_type');
    expect(reasonFor('"picture"', { type: 'IMAGE,MASK' })).toBe('invalid_type');
    expect(reasonFor('null', { type: 'IMAGE' })).toBe('invalid_type');
    expect(reasonFor('null', { type: 'IMAGE', required: false })).toBeNull();
    expect(reasonFor('5', { type: 'INT', linkOnly: true })).toBe('invalid_type');
  });

  it.each(['WEBCAM', 'LOAD_3D', '*', 'STRING,IMAGE'])('may be the value of an input of type %s', (type) => {
    expect([reasonFor('"x"', { type }), reasonFor('{"a": 1}', { type }), reasonFor('null', { type })]).toEqual([
      null,
      null,
      null,
    ]);
  });

  it('keeps to the bounds of an input of several types', () => {
    expect(reasonFor('5', { type: 'INT,FLOAT', max: '4' })).toBe('above_max');
    expect(reasonFor('3.5', { type: 'INT,FLOAT', max: '4' })).toBeNull();
  });

  it('is quoted in the message as it was written, cut to a readable length', () => {
    expect(messageOf(graphText({ '1': nodeText('Probe', '{"x": 2.50}') }), '1', probe({ max: '1' }))).toBe(
      'x must be at most 1, not 2.50.',
    );
    expect(messageOf(graphText({ '1': nodeText('Probe', { x: 'y'.repeat(9_999) }) }), '1', probe({}))).toHaveLength(92);
  });

  it('with an endless middle of white space is judged at once', () => {
    expect(reasonFor(JSON.stringify(`1${' '.repeat(1_000_000)}1`), { type: 'INT' })).toBe('invalid_type');
  });
});

describe('an asset reference', () => {
  const asset = '{"__type": "core/ASSET", "info": {"id": "0197aa00-0000-7000-8000-000000000000"}}';

  it.each<Partial<InputSpec>>([
    { type: 'STRING' },
    { type: '*' },
    { type: 'LOAD_3D' },
    { type: 'COMBO' },
    { type: 'COMBO', options: [] },
    { type: 'COMBO', options: ['euler', 'mine.latent'] },
  ])('can be the value of an input that may read the name of a file: %j', (spec) => {
    expect(reasonFor(asset, spec)).toBeNull();
  });

  it.each<Partial<InputSpec>>([
    { type: 'IMAGE' },
    { type: 'IMAGE,MASK' },
    { type: 'STRING', linkOnly: true },
    { type: 'INT' },
    { type: 'FLOAT' },
    { type: 'COMBO', options: ['euler', 'heun'] },
    { type: 'COMBO', options: [1, 2] },
  ])('is no value of an input that takes no name of a file: %j', (spec) => {
    expect(reasonFor(asset, spec)).toBe('invalid_type');
    expect(reasonFor('{"__type": "core/ASSET"}', spec)).toBeNull();
    const text = graphText({ '1': nodeText('Probe', `{"x": ${asset}}`) });
    expect(messageOf(text, '1', probe(spec))).toContain('LoadImage');
  });

  it('or a file name is what an input that names a file takes', () => {
    const spec: Partial<InputSpec> = { type: 'COMBO', options: ['example.png'], file: 'image' };
    expect(reasonFor(asset, spec)).toBeNull();
    expect(reasonFor('"mine.png"', spec)).toBeNull();
    expect(reasonFor('5', spec)).toBe('invalid_type');
    expect(reasonFor(`[${asset}, ${asset}, "a.png"]`, { ...spec, multiple: true })).toBeNull();
    expect(reasonFor(`[${asset}]`, spec)).toBe('bad_link');
  });

  it('is the only thing that such an input takes where files are known as assets alone', () => {
    const catalogue = probe({ type: 'COMBO', file: 'image' });
    const faults = (x: string): unknown =>
      validateWorkflow(parseWorkflow(graphText({ '1': nodeText('Probe', `{"x": ${x}}`) })), catalogue, {
        assetsOnly: true,
      });
    expect(faults(asset)).toEqual({});
    expect(faults('"mine.png"')).toMatchObject({ '1': [{ field: 'x', reason: 'not_in_list' }] });
  });
});

describe('a link', () => {
  it.each([
    ['["77", 0]', 'bad_link'],
    ['[2, 0]', 'bad_link'],
    ['["2"]', 'bad_link'],
    ['["2", 0, 0]', 'bad_link'],
    ['["2", "0"]', 'bad_link'],
    ['["2", true]', 'bad_link'],
    ['[]', 'bad_link'],
    ['["2", 1]', 'bad_output_slot'],
    ['["2", -1]', 'bad_output_slot'],
    ['["2", 0.0]', 'bad_output_slot'],
    ['["2", 0]', null],
  ])('%s to a node 2 of one output is refused as: %s', (link, reason) => {
    const text = graphText({ '1': nodeText('Probe', `{"x": ${link}}`), '2': nodeText('Source') });
    expect(faultsOf(text, probe({}, ['INT']))[0]?.[2] ?? null).toBe(reason);
  });

  it('wrapped as a value is refused where an engine would follow it', () => {
    expect(reasonFor('{"__value__": ["77", 0]}', { type: '*' })).toBe('bad_link');
    expect(reasonFor('{"__value__": ["77", 0]}', { type: 'COMBO' })).toBe('bad_link');
    expect(reasonFor('{"__value__": ["77", "0"]}', { type: '*' })).toBeNull();
  });

  it.each([
    ['INT', 'INT', null],
    ['INT', 'FLOAT', 'type_mismatch'],
    ['MASK', 'IMAGE', 'type_mismatch'],
    ['*', 'IMAGE', null],
    ['MASK', '*', null],
    ['INT', 'FLOAT,INT', null],
    ['STRING, BOOLEAN', 'INT ,STRING', null],
    ['STRING,BOOLEAN', 'INT,FLOAT', 'type_mismatch'],
    ['STRING', 'COMBO', 'type_mismatch'],
    ['COMBO', 'COMBO', null],
  ])('from an output of type %s to an input of type %s is refused as: %s', (from, to, reason) => {
    expect(reasonForLink(from, to)).toBe(reason);
  });

  it('at fault is explained', () => {
    const linked = (to: unknown): string =>
      graphText({ '1': image(), '2': nodeText('SaveImage', { images: to, filename_prefix: 'x' }) });
    expect(messageOf(linked(['9', 0]), '2')).toBe(`images is linked to node "9", which the workflow doesn't have.`);
    expect(messageOf(linked(['1', 4]), '2')).toBe(
      'images is linked to output slot 4 of node "1" (EmptyImage), which has 1 output, slot 0.',
    );
    expect(messageOf(linked([1, 0]), '2')).toBe(
      'images is a list but no link, [1,0]: a link is ["node id", output slot], and a list that is a value is written {"__value__": [...]}.',
    );
    const mask = graphText({ '1': nodeText('SolidMask', { value: 1, width: 64, height: 64 }), '2': save() });
    expect(messageOf(mask, '2')).toBe('images takes IMAGE, but output slot 0 of node "1" (SolidMask) gives MASK.');
  });
});

describe('an input that the class does not know', () => {
  const withInput = (text: string): string =>
    graphText({
      '1': nodeText('EmptyImage', `{"width": 64, "height": 64, "batch_size": 1, "color": 0, "zz": ${text}}`),
      '2': save(),
    });

  it.each(['5', '"x"', '[1, 2]', '["a", "b"]', '[]', '{"__value__": ["77", 0]}'])(
    'is ignored when it is %s',
    (value) => {
      expect(faultsOf(withInput(value), real)).toEqual([]);
    },
  );

  it.each([
    ['["77", 0]', 'bad_link'],
    ['["77", 0.5]', 'bad_link'],
    ['["77", true]', 'bad_link'],
    ['["1", 5]', 'bad_output_slot'],
    ['["2", 0]', 'bad_output_slot'],
    ['["1", 0]', 'dependency_cycle'],
  ])('is checked as the link that an engine would follow when it is %s: %s', (value, reason) => {
    expect(faultsOf(withInput(value), real).map((fault) => fault[2])).toContain(reason);
  });

  it('may link to a node that nothing else needs, whose own links are then followed too', () => {
    const withSpare = (spare: string): string => graphText({ '1': image({ zz: ['3', 0] }), '2': save(), '3': spare });
    expect(faultsOf(withSpare(image({ width: 0 })), real)).toEqual([]);
    expect(faultsOf(withSpare(nodeText('ImageInvert', { image: ['77', 0] })), real)).toEqual([
      ['3', 'image', 'bad_link'],
    ]);
    expect(faultsOf(withSpare(nodeText('ImageInvert', { image: ['1', 0] })), real)).toEqual([
      ['1', 'zz', 'dependency_cycle'],
      ['3', 'image', 'dependency_cycle'],
    ]);
  });

  it('counts as declared where the class accepts unknown inputs', () => {
    const catalogue = realCatalogue();
    Object.assign(catalogue['EmptyImage'] ?? {}, { acceptsUnknownInputs: true });
    const text = graphText({ '1': image({ 'images.0': ['3', 0] }), '2': save(), '3': image({ width: 0 }) });
    expect(faultsOf(text, catalogue)).toEqual([['3', 'width', 'below_min']]);
  });
});

describe('a node that no output depends on', () => {
  it('is never run, so that its inputs are not judged', () => {
    const spare = nodeText('ImageScale', { image: ['77', 0], width: 'x' });
    expect(faultsOf(graphText({ '1': image(), '2': save(), '3': spare }), real)).toEqual([]);
  });

  it('may be part of a cycle', () => {
    const spare = (to: string): string => nodeText('ImageInvert', { image: [to, 0] });
    expect(faultsOf(graphText({ '1': image(), '2': save(), '3': spare('4'), '4': spare('3') }), real)).toEqual([]);
  });
});

describe('a cycle', () => {
  const invert = (from: string): string => nodeText('ImageInvert', { image: [from, 0] });

  it('is reported on each of its nodes with the way around, and on no other', () => {
    const text = graphText({
      '1': invert('3'),
      '2': invert('1'),
      '3': invert('2'),
      '4': invert('3'),
      '5': save(['4', 0]),
    });
    expect(faultsOf(text, real)).toEqual(['1', '2', '3'].map((id) => [id, 'image', 'dependency_cycle']));
    expect(messageOf(text, '2')).toBe('The node depends on itself: 2 → 1 → 3 → 2. Remove one of these links.');
  });

  it('may be a node linked to itself', () => {
    const text = graphText({ '1': invert('1'), '2': save() });
    expect(faultsOf(text, real)).toEqual([['1', 'image', 'dependency_cycle']]);
    expect(messageOf(text, '1')).toBe('The node depends on itself: 1 → 1. Remove one of these links.');
  });

  it('of 3,000 nodes is reported without running out of stack, its path cut short', () => {
    const ring = Array.from({ length: 3_000 }, (_, at): [string, string] => [`n${at}`, invert(`n${(at + 1) % 3_000}`)]);
    const text = graphText([...ring, ['end', save(['n0', 0])]]);
    expect(faultsOf(text, real, { maxFaults: 10_000 })).toHaveLength(3_000);
    expect(messageOf(text, 'n0')).toBe(
      'The node depends on itself: n0 → n1 → n2 → n3 → n4 → n5 → n6 → n7 → n8 → n9 → …. Remove one of these links.',
    );
  });
});
