import { createHash } from 'node:crypto';
import { logOf, startRun, type Graph, type RunUnderTest } from '@millrace/engines/conformance';
import { FREE_WORK } from '../../../../fixtures/test-work';
import { Xoshiro128 } from '../../../random/xoshiro';
import { CpuEngine } from '../../../cpu.engine';
import { spreadClimate } from './climate';
import { GrayScott } from './gray-scott';
import { renderRelief } from './relief';
import { sow } from './sowing';
import { valueNoise } from './value-noise';

/** The picture that a seed grows, as levels. */
function grown(seed: bigint, steps = 120): Uint8Array {
  const size = { width: 48, height: 40 };
  const random = new Xoshiro128(seed);
  const field = new GrayScott(size, FREE_WORK);
  const hue = valueNoise(size, random, FREE_WORK);
  spreadClimate(field, { feed: 0.037, kill: 0.06 }, random, FREE_WORK);
  sow(field, random);
  for (let step = 0; step < steps; step += 1) field.step();
  const { data } = renderRelief({ field, hue, palette: 'ember' }, FREE_WORK);
  return Uint8Array.from(data, (value) => Math.round(value * 255));
}

function hashOf(levels: Uint8Array): string {
  return createHash('sha256').update(levels).digest('hex').slice(0, 16);
}

describe('the reaction-diffusion generator', () => {
  it('grows the same picture for a seed on every machine', () => {
    expect(hashOf(grown(1n))).toBe('5d6cc984b70bf69f');
    expect(hashOf(grown(18446744073709551615n))).toBe('df66878a0074d2bc');
  });

  it('grows another picture for a seed that differs in any of its 64 bits', () => {
    const seeds = [1n, 1n | (1n << 53n), 1n | (1n << 63n)];
    expect(new Set(seeds.map((seed) => hashOf(grown(seed, 20)))).size).toBe(3);
  });

  it('is at rest where nothing is sown', () => {
    const field = new GrayScott({ width: 9, height: 7 }, FREE_WORK);
    for (let y = 0; y < 7; y += 1) for (let x = 0; x < 9; x += 1) field.setClimate(field.at(x, y), 0.037, 0.06);
    for (let step = 0; step < 50; step += 1) field.step();
    expect(new Set(field.v)).toEqual(new Set([0]));
    for (let x = 0; x < 9; x += 1) expect(field.u[field.at(x, 3)]).toBeCloseTo(1, 5);
  });

  it('knows no edges: what crosses one side comes in at the other', () => {
    const spread = (x: number, y: number): number[] => {
      const field = new GrayScott({ width: 12, height: 10 }, FREE_WORK);
      field.v[field.at(x, y)] = 1;
      for (let step = 0; step < 4; step += 1) field.step();
      const cell = (dx: number, dy: number): number =>
        field.v[field.at((x + dx + 12) % 12, (y + dy + 10) % 10)] as number;
      return [-2, -1, 0, 1, 2].flatMap((dy) => [-2, -1, 0, 1, 2].map((dx) => cell(dx, dy)));
    };
    expect(spread(0, 0)).toEqual(spread(6, 5));
    expect(spread(11, 9)).toEqual(spread(6, 5));
  });

  it('conserves what diffuses where nothing reacts, feeds or kills', () => {
    const field = new GrayScott({ width: 16, height: 16 }, FREE_WORK);
    field.u.fill(0);
    field.v[field.at(3, 4)] = 1;
    for (let step = 0; step < 30; step += 1) field.step();
    let sum = 0;
    for (let y = 0; y < 16; y += 1) for (let x = 0; x < 16; x += 1) sum += field.v[field.at(x, y)] as number;
    expect(sum).toBeCloseTo(1, 4);
  });
});

describe('the node MillraceReactionDiffusion', () => {
  const engine = new CpuEngine();
  beforeAll(() => engine.start());
  afterAll(() => engine.close());

  const graph = (inputs: Record<string, unknown>): Graph => ({
    '1': {
      class_type: 'MillraceReactionDiffusion',
      inputs: { width: 256, height: 192, steps: 40, seed: 3, feed: 0.037, kill: 0.06, ...inputs },
    },
    '2': { class_type: 'PreviewImage', inputs: { images: ['1', 0] } },
  });

  it('reports every step', async () => {
    const run = startRun(engine, graph({}));
    expect(await run.result).toEqual({ status: 'succeeded' });
    const steps = run.events.flatMap((event) =>
      event.type === 'node_step' ? [[event.nodeId, event.step, event.steps]] : [],
    );
    expect(steps).toEqual(Array.from({ length: 40 }, (_, i) => ['1', i + 1, 40]));
    expect(logOf(run)).toContain('MillraceReactionDiffusion (1) took');
  });

  it('shows how the picture grows, as JPEG', async () => {
    const run: RunUnderTest = startRun(engine, graph({ steps: 100_000, palette: 'lagoon' }));
    const preview = await run.seen('preview');
    run.abort();
    expect(await run.result).toEqual({ status: 'interrupted' });
    expect(preview).toMatchObject({ nodeId: '1', contentType: 'image/jpeg' });
    expect(preview.data.subarray(0, 3)).toEqual(Buffer.from([0xff, 0xd8, 0xff]));
  });
});
