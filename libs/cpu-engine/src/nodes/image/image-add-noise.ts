import { normalFloats } from '../../random/torch-normal';
import { newLike, rowLength } from '../../image/tensor';
import { defineNode, output } from '../../node-api/node-class';
import { bigInt, float, image } from '../../node-api/node-input';

const { fround } = Math;

export const imageAddNoise = defineNode({
  name: 'ImageAddNoise',
  category: 'image',
  description: 'The picture with Gaussian noise: the same noise for a seed as torch makes on a CPU.',
  inputs: {
    image: image(),
    seed: bigInt({ default: 0, min: 0, max: '18446744073709551615' }),
    strength: float({ default: 0.5, min: 0, max: 1 }),
  },
  outputs: [output('IMAGE')],
  run({ image, seed, strength }, context) {
    const noise = normalFloats(seed, image.data.length, context);
    const result = newLike(context, image, image);
    const weight = fround(strength);
    const row = rowLength(image);
    for (let i = 0; i < noise.length; i += 1) {
      if (i % row === 0) context.checkpoint();
      const noisy = fround((image.data[i] as number) + fround(weight * (noise[i] as number)));
      result.data[i] = Math.min(Math.max(noisy, 0), 1);
    }
    return [result];
  },
});
