import { encodePreview, rawPicture } from '../../../image/codec/encode';
import { defineNode, output } from '../../../node-api/node-class';
import type { NodeContext } from '../../../node-api/node-context';
import { bigInt, combo, float, int, optional } from '../../../node-api/node-input';
import { GrayScott } from './gray-scott';
import { Xoshiro128 } from '../../../random/xoshiro';
import { spreadClimate } from './climate';
import { PALETTE_NAMES } from './palettes';
import { renderRelief, type Scene } from './relief';
import { sow } from './sowing';
import { valueNoise } from './value-noise';

/** Least milliseconds between two previews, and how many times what a preview takes it must be. */
const PREVIEW_INTERVAL_MS = 200;
const PREVIEW_SPACING = 10;

export const millraceReactionDiffusion = defineNode({
  name: 'MillraceReactionDiffusion',
  displayName: 'Reaction-Diffusion',
  category: 'image/generate',
  description:
    'A pattern grown by the Gray-Scott model of two substances that react and spread, as a lit relief that tiles without ' +
    'seams. The same seed grows the same picture on every machine.',
  inputs: {
    width: int({ default: 512, min: 16, max: 4096 }),
    height: int({ default: 512, min: 16, max: 4096 }),
    steps: int({ default: 2500, min: 1, max: 100_000 }),
    seed: bigInt({ default: 0, min: 0, max: '18446744073709551615' }),
    feed: float({ default: 0.037, min: 0, max: 0.12 }),
    kill: float({ default: 0.06, min: 0, max: 0.08 }),
    palette: optional(combo(PALETTE_NAMES, 'ember')),
  },
  outputs: [output('IMAGE')],
  async run({ width, height, steps, seed, feed, kill, palette = 'ember' }, context) {
    const random = new Xoshiro128(seed);
    const size = { width, height };
    const scene = { field: new GrayScott(size, context), hue: valueNoise(size, random, context), palette };
    context.temporarily(() => spreadClimate(scene.field, { feed, kill }, random, context));
    sow(scene.field, random);
    let nextPreviewAt = performance.now() + PREVIEW_INTERVAL_MS;
    for (let step = 1; step <= steps; step += 1) {
      scene.field.step();
      context.step(step, steps);
      const startedAt = performance.now();
      if (step === steps || startedAt < nextPreviewAt) continue;
      await showGrowth(scene, context);
      const tookMs = performance.now() - startedAt;
      nextPreviewAt = performance.now() + Math.max(PREVIEW_INTERVAL_MS, tookMs * PREVIEW_SPACING);
    }
    return [renderRelief(scene, context)];
  },
});

async function showGrowth(scene: Scene, context: NodeContext): Promise<void> {
  await context.temporarily(async () => {
    const picture = rawPicture(renderRelief(scene, context), 0, context);
    context.preview('image/jpeg', await encodePreview(picture));
  });
}
