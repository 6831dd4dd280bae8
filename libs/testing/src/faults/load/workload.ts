import sharp from 'sharp';
import { type Random } from '../random';

const REPEATED_GRAPHS = 2;

/** Graphs that clients submit: quick ones, long ones, ones that fail, ones that read an upload. */
export function makeGraph(random: Random, assetId: string | null): { graph: object; kind: string } {
  const seed = random.whole(1, 2_000_000_000);
  const save = (from: string): object => ({
    class_type: 'SaveImage',
    inputs: { images: [from, 0], filename_prefix: 'out' },
  });
  const dice = random.next();
  if (dice < 0.1) {
    const blur = { class_type: 'ImageBlur', inputs: { image: ['1', 0], blur_radius: 20, sigma: 1 } };
    return { kind: 'failing', graph: { '1': empty(seed), '2': blur, '3': save('2') } };
  }
  if (dice < 0.25 && assetId !== null) {
    const image = { __type: 'core/ASSET', info: { id: assetId } };
    return { kind: 'reading', graph: { '1': { class_type: 'LoadImage', inputs: { image } }, '2': save('1') } };
  }
  if (dice < 0.6) {
    const steps = random.whole(200, 4_000);
    const grow = {
      class_type: 'MillraceReactionDiffusion',
      inputs: { width: 64, height: 64, steps, seed, feed: 0.055, kill: 0.062 },
    };
    return { kind: 'growing', graph: { '1': grow, '2': save('1'), '3': empty(seed), '4': save('3') } };
  }
  return { kind: 'quick', graph: { '1': empty(seed), '2': save('1') } };
}

/** One of a few graphs that clients submit again and again, asking for earlier outputs. */
export function makeRepeatedGraph(random: Random): object {
  const save = { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'same' } };
  return { '1': empty(random.whole(1, REPEATED_GRAPHS)), '2': save };
}

function empty(seed: number): object {
  return { class_type: 'EmptyImage', inputs: { width: 16, height: 16, batch_size: 1, color: seed % 16_777_216 } };
}

/** A small picture whose bytes are its own. */
export async function makePicture(random: Random): Promise<Buffer> {
  const size = 4;
  const pixels = Buffer.from(Array.from({ length: size * size * 3 }, () => random.whole(0, 255)));
  return sharp(pixels, { raw: { width: size, height: size, channels: 3 } })
    .png()
    .toBuffer();
}
