import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { quickestStopMs, scratchDir, startRun, type Graph } from '@millrace/engines/conformance';
import { FREE_WORK } from '../fixtures/test-work';
import { CpuEngine } from './cpu.engine';
import { encodeAnimatedPng } from './image/codec/encode-animated-png';

/** Milliseconds from an abort to the end of the run. */
const BOUND_MS = 100;

const node = (class_type: string, inputs: Record<string, unknown>): Graph[string] => ({ class_type, inputs });
const picture = (width: number, height: number, batch_size = 1): Graph[string] =>
  node('EmptyImage', { width, height, batch_size, color: 0x336699 });
const solid = (width: number, height: number): Graph[string] => node('SolidMask', { value: 0.5, width, height });
const save = (from: string): Graph[string] => node('SaveImage', { images: [from, 0], filename_prefix: 'x' });

function scaled(upscale_method: string): Graph {
  const size = { width: 4096, height: 4096, crop: 'disabled' };
  return { '1': picture(1024, 1024), '2': node('ImageScale', { image: ['1', 0], upscale_method, ...size }) };
}

/** Graphs whose node 2 takes longer than the bound, with tensors that a busy machine fills well within it. */
const EXPENSIVE: Record<string, Graph> = {
  area: scaled('area'),
  bicubic: scaled('bicubic'),
  bilinear: scaled('bilinear'),
  lanczos: scaled('lanczos'),
  noise: { '1': picture(2048, 2048), '2': node('ImageAddNoise', { image: ['1', 0], seed: 1, strength: 1 }) },
  blur: { '1': picture(2048, 2048), '2': node('ImageBlur', { image: ['1', 0], blur_radius: 31, sigma: 1 }) },
  quantising: {
    '1': picture(3000, 3000),
    '2': node('ImageQuantize', { image: ['1', 0], colors: 256, dither: 'floyd-steinberg' }),
  },
  blending: {
    '1': picture(3000, 3000),
    '2': node('ImageBlend', { image1: ['1', 0], image2: ['1', 0], blend_factor: 0.5, blend_mode: 'soft_light' }),
  },
  compositing: {
    '1': picture(2000, 2000),
    '0': solid(2000, 2000),
    '2': node('PorterDuffImageComposite', {
      source: ['1', 0],
      source_alpha: ['0', 0],
      destination: ['1', 0],
      destination_alpha: ['0', 0],
      mode: 'SRC_OVER',
    }),
  },
  feathering: {
    '0': solid(4096, 4096),
    '2': node('FeatherMask', { mask: ['0', 0], left: 4000, top: 4000, right: 4000, bottom: 4000 }),
  },
  'growing a mask': {
    '0': solid(4000, 4000),
    '2': node('GrowMask', { mask: ['0', 0], expand: 500, tapered_corners: false }),
  },
  'an animated PNG': {
    '1': picture(900, 600, 3),
    '3': node('ImageAddNoise', { image: ['1', 0], seed: 1, strength: 1 }),
    '2': node('SaveAnimatedPNG', { images: ['3', 0], filename_prefix: 'x', fps: 6, compress_level: 9 }),
  },
};

describe('a run on the CPU engine that is aborted', () => {
  // No thread is ended here: what stops, stops of itself.
  const unforced = new CpuEngine({ interruptBoundMs: 60_000 });
  const engine = new CpuEngine();
  beforeAll(() => Promise.all([unforced.start(), engine.start()]));
  afterAll(() => Promise.all([unforced.close(), engine.close()]));

  it.each(Object.keys(EXPENSIVE))('stops within 100 ms of itself while at work on %s', async (name) => {
    const graph = EXPENSIVE[name] as Graph;
    const isSaved = (graph['2'] as Graph[string]).class_type.startsWith('Save');
    const whole = isSaved ? graph : { ...graph, '9': node('PreviewAny', { source: ['2', 0] }) };
    // One scope: what stands before the node is computed once.
    const cacheScope = randomUUID();
    expect(await quickestStopMs(() => startRun(unforced, whole, { cacheScope }), BOUND_MS, '2')).toBeLessThan(BOUND_MS);
  });

  it('is interrupted, not failed, while it reads an animation', async () => {
    const pictures = Array.from(
      { length: 2_000 },
      (_, n) => ({ width: 1, height: 1, channels: 3, data: Buffer.from([n, n >> 8, 0]) }) as const,
    );
    const path = join(scratchDir(), 'long.png');
    writeFileSync(path, await encodeAnimatedPng(pictures, 10, 1, FREE_WORK));
    const inputs = [{ name: 'long.png', path, contentType: 'image/png' }];
    const graph = { '2': node('LoadImage', { image: 'long.png' }), '9': node('PreviewAny', { source: ['2', 0] }) };
    expect(await quickestStopMs(() => startRun(unforced, graph, { inputs }), BOUND_MS, '2')).toBeLessThan(BOUND_MS);
  });

  it.each([
    [
      'a regular expression without end',
      {
        '2': node('RegexMatch', {
          string: `${'a'.repeat(40)}b`,
          regex_pattern: '(a+)+$',
          case_insensitive: true,
          multiline: false,
          dotall: false,
        }),
        '9': node('PreviewAny', { source: ['2', 0] }),
      },
    ],
    [
      'an encoder that can not be broken off',
      {
        '1': picture(700, 700),
        '3': node('ImageAddNoise', { image: ['1', 0], seed: 1, strength: 1 }),
        '2': node('SaveAnimatedWEBP', {
          images: ['3', 0],
          filename_prefix: 'x',
          fps: 6,
          lossless: true,
          quality: 100,
          method: 'slowest',
        }),
      },
    ],
  ])('is settled within 100 ms by ending its thread, and the next one runs: %s', async (_, graph) => {
    const begin = () => startRun(engine, graph);
    expect(await quickestStopMs(begin, BOUND_MS, '2')).toBeLessThan(BOUND_MS);
    expect(await startRun(engine, { '1': picture(8, 8), '2': save('1') }).result).toEqual({ status: 'succeeded' });
  });
});
