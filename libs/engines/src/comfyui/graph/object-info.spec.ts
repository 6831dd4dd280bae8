import { NodeCatalogueSchema } from '@millrace/contracts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogueDigest, readObjectInfo } from './object-info';

const recorded = readFileSync(join(__dirname, '../../../fixtures/object_info.json'), 'utf8');

/** The first input of a class that declares just one. */
function inputOf(spec: string): unknown {
  return readObjectInfo(`{"A": {"input": {"required": {"x": ${spec}}}}}`)['A']?.inputs['x'];
}

describe('the catalogue of a real ComfyUI', () => {
  const catalogue = readObjectInfo(recorded);

  it('has every class, in the contract’s form', () => {
    expect(Object.keys(catalogue)).toHaveLength(379);
    expect(NodeCatalogueSchema.parse(catalogue)).toEqual(catalogue);
  });

  it('keeps bounds digit for digit', () => {
    expect(catalogue['KSampler']?.inputs['seed']).toEqual({
      type: 'INT',
      required: true,
      min: '0',
      max: '18446744073709551615',
      default: 0,
    });
    expect(catalogue['KSampler']?.inputs['cfg']).toMatchObject({ min: '0.0', max: '100.0', default: 8 });
    const bounds = Object.values(catalogue).flatMap(({ inputs }) => Object.values(inputs).map(({ min }) => min));
    expect(bounds).toContain('1e-07');
  });

  it('reads lists of options in both forms', () => {
    expect(catalogue['KSampler']?.inputs['scheduler']).toMatchObject({ type: 'COMBO', options: expectAmong('karras') });
    expect(catalogue['SaveVideo']?.inputs['format']).toEqual({
      type: 'COMBO',
      required: true,
      default: 'auto',
      options: ['auto', 'mp4'],
    });
  });

  it('marks inputs that name a file, and hides which files the server has', () => {
    const files = Object.entries(catalogue).flatMap(([name, { inputs }]) =>
      Object.entries(inputs).flatMap(([input, { file, options }]) => (file ? [[name, input, file, options]] : [])),
    );
    expect(files).toEqual([
      ['LoadImage', 'image', 'image', undefined],
      ['LoadImageMask', 'image', 'image', undefined],
      ['LoadImageOutput', 'image', 'image', undefined],
      ['LoadLatent', 'latent', 'latent', undefined],
      ['LoadAudio', 'audio', 'audio', undefined],
      ['Load3D', 'model_file', 'any', undefined],
      ['Load3DAnimation', 'model_file', 'any', undefined],
      ['LoadVideo', 'file', 'video', undefined],
    ]);
    expect(recorded).toContain('example.png');
    expect(JSON.stringify(catalogue)).not.toContain('example.png');
  });

  it('drops hidden inputs, and has outputs and output nodes', () => {
    expect(Object.keys(catalogue['SaveImage']?.inputs ?? {})).toEqual(['images', 'filename_prefix']);
    expect(catalogue['SaveImage']).toMatchObject({ outputNode: true, outputs: [] });
    expect(catalogue['CheckpointLoaderSimple']).toMatchObject({
      displayName: 'Load Checkpoint',
      category: 'loaders',
      outputNode: false,
      outputs: [
        { type: 'MODEL', name: 'MODEL', list: false },
        { type: 'CLIP', name: 'CLIP', list: false },
        { type: 'VAE', name: 'VAE', list: false },
      ],
    });
  });

  it('keeps the order of declaration, and what is required', () => {
    expect(
      Object.entries(catalogue['CreateVideo']?.inputs ?? {}).map(([name, { required }]) => [name, required]),
    ).toEqual([
      ['images', true],
      ['fps', true],
      ['audio', false],
    ]);
  });

  it('has a digest that changes when it does, and only then', () => {
    const parsed = JSON.parse(recorded) as Record<string, unknown>;
    const reversed = JSON.stringify(Object.fromEntries(Object.entries(parsed).reverse()));
    const digest = catalogueDigest(readObjectInfo(recorded.replaceAll('"PreviewAny"', '"PreviewAny"')));
    expect(catalogueDigest(catalogue)).toBe(digest);
    expect(Object.keys(readObjectInfo(reversed))).not.toEqual(Object.keys(catalogue));
    expect(catalogueDigest(readObjectInfo(recorded.replace('"karras"', '"carrots"')))).not.toBe(digest);
  });
});

describe('the forms of later versions and of node packs', () => {
  it.each([
    ['["COMBO", {"options": ["a", 1, true], "multiselect": true}]', { options: ['a', 1, true], multiple: true }],
    ['["COMBO", {"options": ["a"], "multi_select": {"placeholder": "x"}}]', { multiple: true }],
    ['["COMBO", {"remote": {"route": "/x"}}]', { type: 'COMBO', required: true }],
    [
      '["STRING", {"multiline": true, "forceInput": true, "tooltip": "t"}]',
      { multiline: true, linkOnly: true, tooltip: 't' },
    ],
    ['["INT", {"default": 18446744073709551615}]', { default: '18446744073709551615' }],
    ['["FLOAT", {"min": -Infinity, "max": 1.5}]', { max: '1.5' }],
    ['["IMAGE,MASK", {}]', { type: 'IMAGE,MASK' }],
    ['["COMFY_MATCHTYPE_V3", {}]', { type: '*' }],
    ['["COMFY_DYNAMICCOMBO_V3", {"options": [{"key": "fast", "inputs": {}}]}]', { type: 'COMBO', options: ['fast'] }],
    ['["IMAGE"]', { type: 'IMAGE', required: true }],
  ])('%s', (spec, expected) => {
    expect(inputOf(spec)).toMatchObject(expected);
  });

  it('has no bound where Python has none', () => {
    expect(inputOf('["FLOAT", {"min": -Infinity}]')).not.toHaveProperty('min');
  });

  it('accepts inputs beyond the declared ones where the class makes them up', () => {
    const unknown = (spec: string): unknown => readObjectInfo(`{"A": {"input": {"required": {"x": ${spec}}}}}`)['A'];
    expect(unknown('["COMFY_AUTOGROW_V3", {"template": {}}]')).toMatchObject({ acceptsUnknownInputs: true });
    expect(unknown('["COMFY_DYNAMICCOMBO_V3", {"options": []}]')).toMatchObject({ acceptsUnknownInputs: true });
    expect(unknown('null')).toMatchObject({ acceptsUnknownInputs: true, inputs: {} });
    expect(unknown('["INT"]')).not.toHaveProperty('acceptsUnknownInputs');
    expect(readObjectInfo('{"Mine": {}}', ['Mine'])['Mine']).toMatchObject({ acceptsUnknownInputs: true });
  });

  it('takes a class of any name and no description at all', () => {
    const catalogue = readObjectInfo('{"__proto__": {"output": [["a", "b"]], "output_node": true}}');
    expect(Object.hasOwn(catalogue, '__proto__')).toBe(true);
    expect(Object.values(catalogue)).toEqual([
      {
        displayName: '__proto__',
        category: '',
        description: '',
        inputs: {},
        outputs: [{ type: 'COMBO', name: 'COMBO', list: false }],
        outputNode: true,
      },
    ]);
  });

  it('never offers the folder of the runs themselves', () => {
    expect(inputOf('[["mine", "millrace"], {}]')).toMatchObject({ options: ['mine'] });
    const deep =
      '["COMBO", {"options": ["3d", "millrace", "millrace/6eed1942-df72-4c7c-a23f-6586fd434680", "millraces"]}]';
    expect(inputOf(deep)).toMatchObject({ options: ['3d', 'millraces'] });
  });
});

function expectAmong(value: string): unknown {
  return expect.arrayContaining([value]) as unknown;
}
