import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { outputsOf, scratchDir, startRun, type Graph, type RunUnderTest } from '@millrace/engines/conformance';
import { HELD_BYTES, type InputFile } from '@millrace/engines';
import { eventually } from '@millrace/testing';
import { CpuEngine } from './cpu.engine';
import { pngFile } from './image/codec/png-chunks';

const MIB = 1024 * 1024;

const node = (class_type: string, inputs: Record<string, unknown>): Graph[string] => ({ class_type, inputs });
const empty = (width: number, height: number, batch_size = 1): Graph[string] =>
  node('EmptyImage', { width, height, batch_size, color: 0x336699 });
const save = (from: string): Graph[string] => node('SaveImage', { images: [from, 0], filename_prefix: 'x' });

function file(name: string, bytes: Uint8Array): InputFile {
  const path = join(scratchDir(), 'bytes');
  writeFileSync(path, bytes);
  return { name, path, contentType: 'image/png' };
}

/** A few hundred bytes that say they are 20,000 × 20,000 pixels. */
function bomb(): Uint8Array {
  const header = Buffer.from([0, 0, 0x4e, 0x20, 0, 0, 0x4e, 0x20, 8, 6, 0, 0, 0]);
  return pngFile([
    { type: 'IHDR', data: header },
    { type: 'IDAT', data: deflateSync(Buffer.alloc(100_000)) },
    { type: 'IEND', data: Buffer.alloc(0) },
  ]);
}

describe('the bounds of the CPU engine', () => {
  const engine = new CpuEngine({ runBudgetBytes: 64 * MIB, cacheBytes: 16 * MIB });
  beforeAll(() => engine.start());
  afterAll(() => engine.close());

  it('blames the machine, not the graph nor itself, for a disk that refuses', async () => {
    const notFolder = join(scratchDir(), 'file');
    writeFileSync(notFolder, '');
    const run = startRun(engine, { '1': empty(8, 8), '2': save('1') }, { outputDir: join(notFolder, 'outputs') });
    expect(await run.result).toEqual({ status: 'disk_failed', reason: 'the disk of its worker failed (ENOTDIR)' });
    expect(await engine.health()).toMatchObject({ ready: true });
  });

  it('writes a file of its own for each of two savers whose prefix counts the batch', async () => {
    const saver = node('SaveImage', { images: ['1', 0], filename_prefix: 'n%batch_num%' });
    const run = startRun(engine, { '1': empty(8, 8), '2': saver, '3': saver });
    expect(await run.result).toEqual({ status: 'succeeded' });
    const paths = outputsOf(run).flatMap((output) => (output.kind === 'file' ? [output.path.split('/').at(-1)] : []));
    expect(paths).toEqual(['n0_00001_.png', 'n0_00002_.png']);
  });

  it('hands over texts in memory up to the bound of a run, and as files beyond', async () => {
    const text = 'ü'.repeat(HELD_BYTES / 4);
    const graph: Graph = { '0': node('PrimitiveStringMultiline', { value: text }) };
    for (const id of ['1', '2', '3', '4']) graph[id] = node('PreviewAny', { source: ['0', 0] });
    const run = startRun(engine, graph);
    expect(await run.result).toEqual({ status: 'succeeded' });
    const outputs = outputsOf(run);
    expect(outputs.map(({ nodeId, kind }) => [nodeId, kind])).toEqual([
      ['1', 'text'],
      ['2', 'text'],
      ['3', 'text_file'],
      ['4', 'text_file'],
    ]);
    const paths = outputs.flatMap((output) => (output.kind === 'text_file' ? [output.path] : []));
    for (const path of paths) {
      expect(dirname(path)).toBe(run.outputDir);
      expect(readFileSync(path, 'utf8')).toBe(text);
    }
  });

  it('refuses a picture beyond the memory of a run before making it, naming both sizes', async () => {
    const run = startRun(engine, { '1': empty(16384, 16384), '2': save('1') });
    expect(await run.result).toMatchObject({
      status: 'failed',
      failure: {
        code: 'node_execution_error',
        nodeId: '1',
        classType: 'EmptyImage',
        message: expect.stringMatching(/needs 3072 MiB .* a run may hold 64 MiB/) as string,
      },
    });
  });

  it('counts what a run holds between nodes, and lets go of what none needs', async () => {
    const picture = empty(1024, 1024);
    const invert = (from: string): Graph[string] => node('ImageInvert', { image: [from, 0] });
    const chain: Graph = { '0': picture };
    for (let i = 1; i < 12; i += 1) chain[String(i)] = invert(String(i - 1));
    expect(await startRun(engine, { ...chain, '99': save('11') }).result).toEqual({ status: 'succeeded' });
    const wide: Graph = { '0': empty(1024, 1024, 4), '1': node('ImageBatch', { image1: ['0', 0], image2: ['0', 0] }) };
    expect(await startRun(engine, { ...wide, '99': save('1') }).result).toMatchObject({ failure: { nodeId: '1' } });
  });

  it('refuses a file that would unfold to more pixels than that, without decoding it', async () => {
    const run = startRun(
      engine,
      { '1': node('LoadImage', { image: 'bomb.png' }), '2': save('1') },
      { inputs: [file('bomb.png', bomb())] },
    );
    expect(await run.result).toMatchObject({
      status: 'failed',
      failure: { nodeId: '1', message: expect.stringMatching(/needs \d{4} MiB/) as string },
    });
  });

  it('counts the depth of a file and that it is interlaced, before decoding it', async () => {
    const header = Buffer.from([0, 0, 0x0f, 0xa0, 0, 0, 0x0f, 0xa0, 16, 2, 0, 0, 1]);
    const bytes = pngFile([
      { type: 'IHDR', data: header },
      { type: 'IDAT', data: deflateSync(Buffer.alloc(100_000)) },
      { type: 'IEND', data: Buffer.alloc(0) },
    ]);
    const run = startRun(
      engine,
      { '1': node('LoadImage', { image: 'deep.png' }), '2': save('1') },
      { inputs: [file('deep.png', bytes)] },
    );
    expect(await run.result).toMatchObject({
      failure: {
        code: 'node_execution_error',
        nodeId: '1',
        message: expect.stringMatching(
          /^deep\.png has 4000×4000 pixels \(ushort, interlaced\)\. .* needs 137 MiB .* may hold 64 MiB/,
        ) as string,
      },
    });
  });

  it('counts what an encoder needs beside the pictures', async () => {
    const webp = { filename_prefix: 'x', fps: 6, lossless: true, quality: 80, method: 'fastest' };
    const graph = { '1': empty(1024, 1100), '2': node('SaveAnimatedWEBP', { images: ['1', 0], ...webp }) };
    expect(await startRun(engine, graph).result).toMatchObject({
      failure: { nodeId: '2', message: expect.stringMatching(/needs 68 MiB .* may hold 64 MiB/) as string },
    });
  });

  it.each([
    ['an SVG', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'],
    ['text', 'no picture'],
    ['nothing', ''],
  ])('does not take %s for a picture', async (_, text) => {
    const inputs = [file('file.png', Buffer.from(text))];
    const run = startRun(engine, { '1': node('LoadImage', { image: 'file.png' }), '2': save('1') }, { inputs });
    expect(await run.result).toMatchObject({
      failure: { nodeId: '1', message: expect.stringMatching(/^file\.png is damaged, or no picture/) as string },
    });
  });

  it('refuses text that doubles without end', async () => {
    const graph: Graph = { '0': node('PrimitiveString', { value: 'x'.repeat(1000) }) };
    for (let i = 1; i <= 40; i += 1) {
      const from = [String(i - 1), 0];
      graph[String(i)] = node('StringConcatenate', { string_a: from, string_b: from, delimiter: '' });
    }
    const run = startRun(engine, { ...graph, '99': node('PreviewAny', { source: ['40', 0] }) });
    expect(await run.result).toMatchObject({
      failure: { classType: 'StringConcatenate', code: 'node_execution_error' },
    });
  });

  it('refuses a list of more pictures than it has room for, however small they are', async () => {
    const graph: Graph = {
      '1': empty(1, 1, 4096),
      '2': node('RepeatImageBatch', { image: ['1', 0], amount: 20 }),
      '3': node('RebatchImages', { images: ['2', 0], batch_size: 1 }),
      '4': save('3'),
    };
    expect(await startRun(engine, graph).result).toMatchObject({
      failure: { nodeId: '3', message: 'images holds 81920 pictures; at most 65536 can be dealt out.' },
    });
  });

  it('lets go at once of a run that is aborted while it waits for another', async () => {
    const forever = { width: 64, height: 64, steps: 100_000, seed: 1, feed: 0.037, kill: 0.06 };
    const first = startRun(engine, { '1': node('MillraceReactionDiffusion', forever), '2': save('1') });
    await first.seen('node_started');
    const waiting = startRun(engine, { '1': empty(8, 8), '2': save('1') });
    waiting.abort();
    expect(await waiting.result).toEqual({ status: 'interrupted' });
    expect(waiting.events).toEqual([]);
    const next = startRun(engine, { '1': empty(8, 8), '2': save('1') });
    first.abort();
    expect(await first.result).toEqual({ status: 'interrupted' });
    expect(await next.result).toEqual({ status: 'succeeded' });
  });

  it('says so when an input file has gone from the disk', async () => {
    const inputs = [{ name: 'gone.png', path: join(scratchDir(), 'gone'), contentType: 'image/png' }];
    const run = startRun(engine, { '1': node('LoadImage', { image: 'gone.png' }), '2': save('1') }, { inputs });
    expect(await run.result).toMatchObject({
      failure: { code: 'input_unavailable', message: 'The input file "gone.png" is no longer there.' },
    });
  });

  it('leaves the process free to do other things while a node is at work', async () => {
    const graph = {
      '1': node('MillraceReactionDiffusion', {
        width: 256,
        height: 256,
        steps: 100_000,
        seed: 1,
        feed: 0.037,
        kill: 0.06,
      }),
      '2': save('1'),
    };
    const run = startRun(engine, graph);
    await run.seen('node_started');
    let beats = 0;
    const beat = setInterval(() => (beats += 1), 10);
    await eventually('other things to be done', () => beats > 3);
    clearInterval(beat);
    // It is not over: it is stopped at its work.
    run.abort();
    expect(await run.result).toEqual({ status: 'interrupted' });
  });
});

describe('an engine that is closed', () => {
  it('says why it is not ready, and loses what it is given', async () => {
    const engine = new CpuEngine();
    expect(await engine.health()).toMatchObject({ ready: false, problem: 'The engine has not been started.' });
    await engine.start();
    await engine.close();
    expect(await engine.health()).toMatchObject({ ready: false, problem: 'The engine is closed.' });
    expect(await startRun(engine, { '1': empty(8, 8), '2': save('1') }).result).toEqual({
      status: 'lost',
      reason: 'The engine is closed.',
    });
  });
});

describe('results of earlier runs', () => {
  const engine = new CpuEngine();
  beforeAll(() => engine.start());
  afterAll(() => engine.close());

  const graph: Graph = {
    '1': empty(32, 24),
    '2': node('ImageInvert', { image: ['1', 0] }),
    '3': node('ImageBlur', { image: ['2', 0], blur_radius: 2, sigma: 1 }),
    '4': save('3'),
    '5': node('PreviewImage', { images: ['2', 0] }),
  };

  function ran({ events }: RunUnderTest): string[] {
    return events.flatMap((event) => (event.type === 'node_started' ? [event.nodeId] : []));
  }

  it('spare a second run everything but its outputs', async () => {
    const cacheScope = randomUUID();
    const first = startRun(engine, graph, { cacheScope });
    expect(await first.result).toEqual({ status: 'succeeded' });
    expect(ran(first).sort()).toEqual(['1', '2', '3', '4', '5']);
    const second = startRun(engine, graph, { cacheScope });
    expect(await second.result).toEqual({ status: 'succeeded' });
    expect(second.events[1]).toEqual({ type: 'nodes_cached', nodeIds: ['1', '2', '3'] });
    expect(ran(second)).toEqual(['4', '5']);
    expect(outputsOf(second).map(({ nodeId }) => nodeId)).toEqual(['4', '5']);
  });

  it('spare a changed graph what has not changed', async () => {
    const cacheScope = randomUUID();
    await startRun(engine, graph, { cacheScope }).result;
    const changed = { ...graph, '3': node('ImageBlur', { image: ['2', 0], blur_radius: 3, sigma: 1 }) };
    const second = startRun(engine, changed, { cacheScope });
    expect(await second.result).toEqual({ status: 'succeeded' });
    expect(ran(second).sort()).toEqual(['3', '4', '5']);
  });

  it('serve two equal nodes of one graph', async () => {
    const twice = { ...graph, '6': graph['1'] as Graph[string], '7': save('6') };
    const run = startRun(engine, twice);
    expect(await run.result).toEqual({ status: 'succeeded' });
    expect(outputsOf(run)).toHaveLength(3);
  });
});

describe('a text that is kept of a run', () => {
  const engine = new CpuEngine({ heapMib: 64 });
  beforeAll(() => engine.start());
  afterAll(() => engine.close());

  it('keeps nothing else of what was submitted, so that the runs of others have their memory', async () => {
    const graph = (value: string, title: string): Graph => ({
      '1': { ...node('PrimitiveString', { value }), _meta: { title } } as Graph[string],
      '2': node('StringSubstring', { string: ['1', 0], start: 0, end: 30 }),
      '3': node('PreviewAny', { source: ['2', 0] }),
    });
    const cacheScope = randomUUID();
    for (let nth = 0; nth < 60; nth += 1) {
      const run = startRun(engine, graph(`a text of an account, number ${nth}`, 'x'.repeat(MIB)), { cacheScope });
      expect(await run.result).toEqual({ status: 'succeeded' });
    }
    expect(await startRun(engine, graph('a text of another account', 'short')).result).toEqual({ status: 'succeeded' });
  });
});

describe('what a failure says', () => {
  const engine = new CpuEngine();
  beforeAll(() => engine.start());
  afterAll(() => engine.close());

  it('is the node, what had arrived at it, and what is wrong', async () => {
    const graph = {
      '1': empty(24, 16),
      '2': node('ImageBlur', { image: ['1', 0], blur_radius: 20, sigma: 1 }),
      '3': save('2'),
    };
    const result = await startRun(engine, graph).result;
    expect(result).toMatchObject({
      status: 'failed',
      failure: {
        message: 'A radius of 20 needs a picture of more than 20 pixels on either side; this one is 24×16.',
        traceback: [
          'Node 2 (ImageBlur), with',
          '    image = IMAGE 1×16×24×3',
          '    blur_radius = 20',
          '    sigma = 1',
          'NodeFault: A radius of 20 needs a picture of more than 20 pixels on either side; this one is 24×16.',
        ].join('\n'),
      },
    });
  });

  it('keeps what was put out before', async () => {
    const graph = {
      '1': empty(24, 16),
      '2': save('1'),
      '3': node('ImageBlur', { image: ['1', 0], blur_radius: 20, sigma: 1 }),
      '4': save('3'),
    };
    const run = startRun(engine, graph);
    expect((await run.result).status).toBe('failed');
    expect(outputsOf(run).map(({ nodeId }) => nodeId)).toEqual(['2']);
  });

  it('comes from the catalogue where the graph does not fit it', async () => {
    const run = startRun(engine, { '1': empty(0, 16), '2': save('1') });
    expect(await run.result).toMatchObject({
      status: 'failed',
      failure: {
        code: 'node_execution_error',
        nodeId: '1',
        classType: 'EmptyImage',
        message: expect.stringMatching(/width/) as string,
      },
    });
  });
});
