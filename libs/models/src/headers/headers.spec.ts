import fc from 'fast-check';
import { ggufFile, safetensorsFile } from '../fixtures/model-files';
import { HEADER_BYTES, HeaderError, type ModelHeader } from './model-header';
import { formatOf, readHeader, type ModelFormat } from './model-format';

/** Reads the header, and fails where the parser asks for bytes that are not in the file. */
function read(format: ModelFormat, file: Buffer, sizeBytes = file.length): Promise<ModelHeader | null> {
  return readHeader(
    format,
    (start, end) => {
      if (start < 0 || end < start || end > sizeBytes) throw new Error(`bytes ${start} to ${end} of ${sizeBytes}`);
      if (end - start > HEADER_BYTES) throw new Error(`${end - start} bytes at once`);
      return Promise.resolve(file.subarray(start, end));
    },
    sizeBytes,
  );
}

/** What came of a file: its header, or that it was refused; anything else fails the test. */
async function outcomeOf(format: ModelFormat, file: Buffer, sizeBytes?: number): Promise<'read' | 'refused'> {
  try {
    await read(format, file, sizeBytes);
    return 'read';
  } catch (error) {
    if (error instanceof HeaderError) return 'refused';
    throw error;
  }
}

const withHeader = (header: string, data = 0): Buffer => {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(header)));
  return Buffer.concat([length, Buffer.from(header), Buffer.alloc(data)]);
};

/** So many members of an object, each with the value. */
const numbered = (count: number, value: string): string =>
  Array.from({ length: count }, (_, at) => `"${at}":${value}`).join();

describe('the format of a file', () => {
  it.each([
    ['a.safetensors', 'safetensors'],
    ['sdxl/A.SAFETENSORS', 'safetensors'],
    ['a.sft', 'safetensors'],
    ['a.gguf', 'gguf'],
    ['a.ckpt', 'pickle'],
    ['a.safetensors.pt', 'pickle'],
    ['a.pth', 'pickle'],
    ['pytorch_model.bin', 'pickle'],
    ['a.onnx', null],
    ['a', null],
    ['safetensors', null],
    ['a.safetensors.', null],
    ['a.constructor', null],
  ])('of %s is %s', (name, format) => expect(formatOf(name)).toBe(format));
});

describe('a safetensors header', () => {
  it.each([
    ['checkpoint', { 'model.diffusion_model.x': [2], 'conditioner.y': [3] }],
    ['diffusion_model', { 'double_blocks.0.img_attn.qkv.weight': [2] }],
    ['lora', { 'lora_unet_down_blocks_0.lora_down.weight': [2, 2] }],
    ['vae', { 'encoder.down.0.x': [1], 'decoder.up.0.x': [1] }],
    ['text_encoder', { 'text_model.encoder.layers.0.x': [1] }],
    ['controlnet', { 'control_model.input_blocks.0': [1] }],
    [null, { something: [1] }],
    [null, {}],
  ])('of a %s is recognised', async (kind, tensors) => {
    expect((await read('safetensors', safetensorsFile(tensors as Record<string, number[]>)))?.kind).toBe(kind);
  });

  it('says what the model is', async () => {
    const metadata = { 'modelspec.architecture': 'stable-diffusion-xl-v1-base/lora' };
    expect(await read('safetensors', safetensorsFile({ a: [2, 3], b: [4] }, metadata))).toEqual({
      kind: 'lora',
      architecture: 'stable-diffusion-xl-v1-base/lora',
      parameters: 10,
    });
  });

  it('without metadata says nothing of its architecture', async () => {
    expect(await read('safetensors', withHeader('{"__metadata__":null}'))).toMatchObject({ architecture: null });
  });

  it.each([
    ['is too short', Buffer.alloc(7)],
    ['claims more than 16 MiB', Buffer.from('ffffffffffffffff', 'hex')],
    ['is longer than the file', withHeader('{}').subarray(0, 9)],
    ['is no JSON', withHeader('{"a"')],
    ['is no object', withHeader('[]')],
    ['is no UTF-8', Buffer.concat([Buffer.from('0200000000000000', 'hex'), Buffer.from([0xff, 0xff])])],
    ['is nested deeply', withHeader('['.repeat(100_000))],
    ['has a tensor of thousands of values', withHeader(`{"a":{"x":[${'{},'.repeat(2_000)}{}]}}`)],
    ['has metadata that are not texts', withHeader('{"__metadata__":{"a":[{}]}}')],
    ['has metadata that are no object', withHeader('{"__metadata__":[]}')],
    ['has metadata with control characters', withHeader('{"__metadata__":{"a":"\u0001"}}')],
    ['has too many metadata', withHeader(`{"__metadata__":{${numbered(10_001, '""')}}}`)],
    ['has a tensor without a place', withHeader('{"a":{"dtype":"F16","shape":[1]}}', 2)],
    ['has a negative place', withHeader('{"a":{"dtype":"F16","shape":[1],"data_offsets":[-2,0]}}', 2)],
    ['has a place that is too small', withHeader('{"a":{"dtype":"F16","shape":[2],"data_offsets":[0,2]}}', 2)],
    ['has a tensor of impossible size', withHeader('{"a":{"dtype":"X","shape":[9e15,9e15],"data_offsets":[0,2]}}', 2)],
    ['has a gap', withHeader('{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}', 2)],
    ['has hidden bytes', withHeader('{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}', 2)],
    [
      'has tensors that overlap',
      withHeader(
        '{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}}',
        3,
      ),
    ],
    ['begins with a pickle', Buffer.concat([Buffer.from('PK\u0003\u0004'), Buffer.alloc(100)])],
  ])('that %s is refused', async (_, file) => expect(await outcomeOf('safetensors', file)).toBe('refused'));

  it.each([
    ['a list of objects', (size: number) => `{"a":[${'{},'.repeat(size / 3)}{}]}`],
    ['arrays in one another', (size: number) => `{"a":${'['.repeat(size / 2)}${']'.repeat(size / 2)}}`],
    ['metadata of objects', (size: number) => `{"__metadata__":{"a":[${'{},'.repeat(size / 3)}{}]}}`],
    ['members', (size: number) => `{${numbered(size / 16, '0')}}`],
    ['tensors that hold objects', (size: number) => `{${numbered(size / 3_020, `[${'{},'.repeat(999)}{}]`)}}`],
  ])('of 16 MiB that is %s is refused without a document of it', async (_, headerOf) => {
    const file = withHeader(headerOf(HEADER_BYTES - 1_000));
    const parse = jest.spyOn(JSON, 'parse');
    expect(await outcomeOf('safetensors', file)).toBe('refused');
    const longest = parse.mock.calls.reduce((most, [text]) => Math.max(most, text.length), 0);
    parse.mockRestore();
    expect(longest).toBeLessThanOrEqual(4_096);
  });

  it('of a file that was cut anywhere is refused', async () => {
    const file = safetensorsFile();
    for (let length = 0; length < file.length; length += 1) {
      expect(await outcomeOf('safetensors', file.subarray(0, length))).toBe('refused');
    }
  });

  it('of any bytes is read or refused, within the file and in bounded memory', async () => {
    const file = safetensorsFile();
    const change = fc.tuple(fc.nat(file.length - 1), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), fc.nat(40), async (changes, more) => {
        const hostile = Buffer.concat([file, Buffer.alloc(more)]);
        for (const [at, byte] of changes) hostile[at] = byte;
        expect(['read', 'refused']).toContain(await outcomeOf('safetensors', hostile));
      }),
      { numRuns: 500 },
    );
  });

  it('of any JSON is read or refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), fc.nat(20), async (header, data) => {
        expect(['read', 'refused']).toContain(await outcomeOf('safetensors', withHeader(JSON.stringify(header), data)));
      }),
      { numRuns: 300 },
    );
  });
});

describe('a GGUF header', () => {
  it.each([
    ['diffusion_model', { 'general.architecture': 'flux' }, 'flux'],
    ['text_encoder', { 'general.architecture': 't5encoder' }, 't5encoder'],
    ['lora', { 'general.architecture': 'flux', 'general.type': 'adapter' }, 'flux'],
    [null, { 'general.architecture': 'constructor' }, 'constructor'],
    [null, {}, null],
  ])('of a %s is recognised', async (kind, fields, architecture) => {
    const header = await read('gguf', ggufFile(fields));
    expect(header).toEqual({ kind, architecture, parameters: 8 });
  });

  it('with control characters in its architecture is shown without them', async () => {
    const header = await read('gguf', ggufFile({ 'general.architecture': 'a\u001b[31m\n' }));
    expect(header?.architecture).toBe('a\ufffd[31m\ufffd');
  });

  it.each([
    ['begins with something else', Buffer.concat([Buffer.from('GGML'), Buffer.alloc(20)])],
    ['is of version 1', Buffer.concat([Buffer.from('GGUF\u0001\0\0\0'), Buffer.alloc(16)])],
    ['counts more tensors than there can be', Buffer.concat([Buffer.from('GGUF\u0003\0\0\0'), Buffer.alloc(16, 0xff)])],
    [
      'has a text of impossible length',
      Buffer.concat([
        Buffer.from('GGUF\u0003\0\0\0'),
        Buffer.from('000000000000000001000000000000000000000000000040', 'hex'),
      ]),
    ],
  ])('that %s is refused', async (_, file) => expect(await outcomeOf('gguf', file)).toBe('refused'));

  it('of a file that was cut anywhere is refused', async () => {
    const file = ggufFile();
    for (let length = 0; length < file.length; length += 1) {
      expect(await outcomeOf('gguf', file.subarray(0, length))).toBe('refused');
    }
  });

  it('of any bytes is read or refused, within the file and in bounded memory', async () => {
    const file = ggufFile();
    const change = fc.tuple(fc.nat(file.length - 1), fc.nat(255));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
        const hostile = Buffer.from(file);
        for (const [at, byte] of changes) hostile[at] = byte;
        expect(['read', 'refused']).toContain(await outcomeOf('gguf', hostile));
      }),
      { numRuns: 500 },
    );
  });
});

it('a pickle is not read', async () => {
  expect(await readHeader('pickle', () => Promise.reject(new Error('it was read')), 10)).toBeNull();
});
