import { newImage, rowLength } from '../../image/tensor';
import { defineNode, output } from '../../node-api/node-class';
import { int, pixels } from '../../node-api/node-input';

export const emptyImage = defineNode({
  name: 'EmptyImage',
  category: 'image',
  description: 'Pictures of a single colour.',
  inputs: {
    width: pixels(1, 512),
    height: pixels(1, 512),
    batch_size: int({ default: 1, min: 1, max: 4096 }),
    color: int({ default: 0, min: 0, max: 0xffffff }),
  },
  outputs: [output('IMAGE')],
  run({ width, height, batch_size: batch, color }, context) {
    const image = newImage(context, batch, { width, height }, 3);
    const colour = [16, 8, 0].map((shift) => ((color >> shift) & 0xff) / 0xff);
    const row = rowLength(image);
    for (let x = 0; x < row; x += 3) image.data.set(colour, x);
    for (let at = row; at < image.data.length; at += row) {
      context.checkpoint();
      image.data.copyWithin(at, 0, row);
    }
    return [image];
  },
});
