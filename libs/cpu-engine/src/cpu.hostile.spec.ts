import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { scratchDir, startRun, type Graph } from '@millrace/engines/conformance';
import type { EngineFailure, InputFile } from '@millrace/engines';
import { CpuEngine } from './cpu.engine';
import { pngFile, type PngChunk } from './image/codec/png-chunks';

const node = (class_type: string, inputs: Record<string, unknown>): Graph[string] => ({ class_type, inputs });
const picture = node('EmptyImage', { width: 24, height: 16, batch_size: 1, color: 0 });

function header(width: number, height: number): PngChunk {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([8, 2], 8);
  return { type: 'IHDR', data };
}

function frame(width: number, height: number): PngChunk {
  const data = Buffer.alloc(26);
  data.writeUInt32BE(width, 4);
  data.writeUInt32BE(height, 8);
  return { type: 'fcTL', data };
}

const animation: PngChunk = { type: 'acTL', data: Buffer.alloc(8) };
const pixel: PngChunk = { type: 'IDAT', data: deflateSync(Buffer.alloc(4)) };
const end: PngChunk = { type: 'IEND', data: Buffer.alloc(0) };

interface Page {
  width: number;
  height: number;
  /** Grey, deflated. */
  data: Buffer;
}

/** A TIFF of deflated grey pages (TIFF 6.0), one strip each. */
function tiff(pages: Page[]): Buffer {
  const parts: Uint8Array[] = [Buffer.from([0x49, 0x49, 42, 0, 8, 0, 0, 0])];
  let at = 8;
  for (const [index, { width, height, data }] of pages.entries()) {
    const tags = [
      [256, width],
      [257, height],
      [258, 8],
      [259, 8],
      [262, 1],
      [273, at + 2 + 8 * 12 + 4],
      [278, height],
      [279, data.length],
    ];
    const directory = Buffer.alloc(2 + tags.length * 12 + 4);
    directory.writeUInt16LE(tags.length, 0);
    for (const [place, [tag = 0, value = 0]] of tags.entries()) {
      directory.writeUInt16LE(tag, 2 + place * 12);
      directory.writeUInt16LE(4, 4 + place * 12);
      directory.writeUInt32LE(1, 6 + place * 12);
      directory.writeUInt32LE(value, 10 + place * 12);
    }
    at += directory.length + data.length;
    directory.writeUInt32LE(index === pages.length - 1 ? 0 : at, directory.length - 4);
    parts.push(directory, data);
  }
  return Buffer.concat(parts);
}

function page(width: number, height: number): Page {
  return { width, height, data: deflateSync(Buffer.alloc(width * height)) };
}

describe('what a stranger sends to the CPU engine', () => {
  const engine = new CpuEngine({ runBudgetBytes: 64 * 1024 * 1024 });
  beforeAll(() => engine.start());
  afterAll(() => engine.close());

  async function failureOf(graph: Graph | string, inputs: InputFile[] = []): Promise<EngineFailure> {
    const result = await startRun(engine, graph, { inputs }).result;
    if (result.status !== 'failed') throw new Error(`The run ended as ${JSON.stringify(result)}.`);
    return result.failure;
  }

  function loading(bytes: Uint8Array): { graph: Graph; inputs: InputFile[] } {
    const path = join(scratchDir(), 'bytes');
    writeFileSync(path, bytes);
    const graph = { '1': node('LoadImage', { image: 'a' }), '2': node('PreviewAny', { source: ['1', 0] }) };
    return { graph, inputs: [{ name: 'a', path, contentType: 'image/png' }] };
  }

  it.each([
    ['EmptyImage', { width: 20_000 }, 'width must be at most 16384; what arrived is 20000.'],
    ['EmptyImage', { height: -5 }, 'height must be at least 1; what arrived is -5.'],
    ['EmptyImage', { batch_size: 0 }, 'batch_size must be at least 1; what arrived is 0.'],
    ['EmptyImage', { width: -20_000, height: -20_000 }, 'width must be at least 1; what arrived is -20000.'],
  ])('is held to the bounds of %s, too, where it comes over a link: %j', async (name, given, message) => {
    const graph: Graph = { '1': node(name, { ...picture.inputs }), '2': node('PreviewAny', { source: ['1', 0] }) };
    for (const [input, value] of Object.entries(given)) {
      graph[input] = node('PrimitiveInt', { value });
      (graph['1'] as Graph[string]).inputs[input] = [input, 0];
    }
    expect(await failureOf(graph)).toMatchObject({ code: 'node_execution_error', nodeId: '1', message });
  });

  it.each(['nan', 'inf', '-inf'])('is no factor to scale by if it is %s', async (value) => {
    const scaled = node('ImageScaleBy', { image: ['1', 0], upscale_method: 'area', scale_by: value });
    const graph = { '1': picture, '2': scaled, '3': node('PreviewAny', { source: ['2', 0] }) };
    expect(await failureOf(graph)).toMatchObject({
      code: 'node_execution_error',
      nodeId: '2',
      message: expect.stringContaining('scale_by') as string,
    });
  });

  it('fails with a short message that names the text that is too long', async () => {
    const { message, traceback } = await failureOf({
      '1': node('StringLength', { string: 'x'.repeat(10_000_000) }),
      '2': node('PreviewAny', { source: ['1', 0] }),
    });
    expect(message).toBe('string is too long: 10000000 characters, where at most 1048576 are allowed.');
    expect(traceback?.length).toBeLessThan(1000);
  });

  it('fails with a short message when the name of a file has no end and the id of its node is as long as it may be', async () => {
    const id = 'i'.repeat(256);
    const graph = {
      [id]: node('LoadImage', { image: 'n'.repeat(1_000_000) }),
      '2': node('PreviewAny', { source: [id, 0] }),
    };
    const { message, traceback } = await failureOf(graph);
    expect(message.length).toBeLessThan(300);
    expect(traceback?.length).toBeLessThan(1000);
  });

  const long = 'g'.repeat(500_000);
  it.each([
    ['replacement', { regex_pattern: 'a', replace: `\\g<${long}>` }],
    ['pattern, as one that is no name', { regex_pattern: `(?P<-${long}>a)`, replace: '' }],
    ['pattern, twice', { regex_pattern: `(?P<${long}>a)(?P<${long}>a)`, replace: '' }],
    ['pattern, where there is none', { regex_pattern: `(?P=${long})`, replace: '' }],
  ])('fails with a short message when the name of a group has no end in a %s', async (_, given) => {
    const more = { case_insensitive: false, multiline: false, dotall: false, count: 0 };
    const regex = node('RegexReplace', { string: 'a', ...more, ...given });
    const { message, traceback } = await failureOf({
      '1': regex,
      '2': node('PreviewAny', { source: ['1', 0] }),
    });
    expect(message).toMatch(/group/);
    expect(message.length).toBeLessThan(300);
    expect(traceback?.length).toBeLessThan(2000);
  });

  it.each([20_000, 300])('fails when a pattern of %d groups within one another is too deep', async (depth) => {
    const regex = {
      string: 'a',
      regex_pattern: '('.repeat(depth) + 'a' + ')'.repeat(depth),
      case_insensitive: false,
      multiline: false,
      dotall: false,
    };
    const graph = { '1': node('RegexMatch', regex), '2': node('PreviewAny', { source: ['1', 0] }) };
    expect(await failureOf(graph)).toMatchObject({
      code: 'node_execution_error',
      message: expect.stringContaining('nests groups too deeply') as string,
    });
  });

  const switches = { case_insensitive: false, multiline: false, dotall: false };
  it.each([
    ['RegexMatch', switches],
    ['RegexExtract', { ...switches, mode: 'All Matches', group_index: 1 }],
    ['RegexReplace', { ...switches, replace: 'x' }],
  ])('fails after two seconds in a regular expression that would take years: %s', async (name, more) => {
    const regex = node(name, { string: `${'a'.repeat(64)}b`, regex_pattern: '^(a+)+$', ...more });
    const failure = await failureOf({ '1': regex, '2': node('PreviewAny', { source: ['1', 0] }) });
    expect(failure).toMatchObject({
      code: 'node_execution_error',
      nodeId: '1',
      message: expect.stringMatching(
        /^This node computed for 2 s and was stopped\. Its pattern tries too many/,
      ) as string,
    });
  });

  it.each([
    [
      'an animated PNG of more parts than are kept in mind',
      pngFile([
        header(4, 4),
        animation,
        frame(4, 4),
        ...Array.from({ length: 70_000 }, () => ({ type: 'abCd', data: Buffer.alloc(0) })),
      ]),
      /more than 65536 parts/,
    ],
    [
      'an animated PNG of more frames than a batch holds',
      pngFile([header(1, 1), animation, ...Array.from({ length: 5_000 }, () => frame(1, 1)), pixel, end]),
      /5000 pictures .* at most 4096/,
    ],
    [
      'an animated PNG whose frame reaches beyond it',
      pngFile([header(1, 1), animation, frame(0xffffffff, 0xffffffff), pixel, end]),
      /damaged/,
    ],
    ['a TIFF of more pages than a batch holds', tiff(Array.from({ length: 4_097 }, () => page(1, 1))), /at most 4096/],
    ['a TIFF that is cut short', tiff([page(64, 64)]).subarray(0, 60), /damaged/],
  ])('is refused: %s', async (_, bytes, message) => {
    const { graph, inputs } = loading(bytes);
    expect(await failureOf(graph, inputs)).toMatchObject({
      code: 'node_execution_error',
      nodeId: '1',
      message: expect.stringMatching(message) as string,
    });
  });

  it('gets the first page of a TIFF whose others would not fit, without decoding those', async () => {
    const { graph, inputs } = loading(tiff([page(2, 2), page(9_000, 9_000), page(2, 2)]));
    const run = startRun(engine, graph, { inputs });
    expect(await run.result).toEqual({ status: 'succeeded' });
    expect(run.events).toContainEqual(expect.objectContaining({ type: 'output' }));
  });

  it('gets the still picture of an animated PNG that has no frames', async () => {
    const { graph, inputs } = loading(pngFile([header(1, 1), animation, pixel, end]));
    const run = startRun(
      engine,
      { ...graph, '3': node('SaveImage', { images: ['1', 0], filename_prefix: 'x' }) },
      { inputs },
    );
    expect(await run.result).toEqual({ status: 'succeeded' });
    expect(run.events).toContainEqual(
      expect.objectContaining({ output: expect.objectContaining({ nodeId: '3', kind: 'file' }) as object }),
    );
  });

  it('has ended no thread: what was computed before is still found', async () => {
    const cacheScope = randomUUID();
    const graph = { '1': picture, '2': node('PreviewImage', { images: ['1', 0] }) };
    await startRun(engine, graph, { cacheScope }).result;
    await failureOf({
      '1': node('SolidMask', { value: 1, width: 16_384, height: 16_384 }),
      '2': node('MaskPreview', { mask: ['1', 0] }),
    });
    const again = startRun(engine, graph, { cacheScope });
    expect(await again.result).toEqual({ status: 'succeeded' });
    expect(again.events).toContainEqual({ type: 'nodes_cached', nodeIds: ['1'] });
  });
});
