import { fillTensor } from '../../image/pointwise';
import { paste } from '../../image/paste';
import { resize } from '../../image/resize/resize';
import { newImage } from '../../image/tensor';
import { defineNode, output } from '../../node-api/node-class';
import { combo, image, pixels } from '../../node-api/node-input';

export const resizeAndPadImage = defineNode({
  name: 'ResizeAndPadImage',
  category: 'image/transform',
  description: 'The picture scaled to fit a size with its proportions kept, on a ground that fills the rest.',
  inputs: {
    image: image(),
    target_width: pixels(1, 512),
    target_height: pixels(1, 512),
    padding_color: combo(['white', 'black']),
    interpolation: combo(['area', 'bicubic', 'nearest-exact', 'bilinear', 'lanczos']),
  },
  outputs: [output('IMAGE')],
  run({ image, target_width: width, target_height: height, padding_color, interpolation }, context) {
    const scale = Math.min(width / image.width, height / image.height);
    const size = { width: Math.trunc(image.width * scale), height: Math.trunc(image.height * scale) };
    const resized = resize(image, size, interpolation, context);
    const result = newImage(context, image.batch, { width, height }, image.channels);
    if (padding_color === 'white') fillTensor(result, 1, context);
    const place = { x: Math.floor((width - size.width) / 2), y: Math.floor((height - size.height) / 2) };
    paste(result, resized, place, context);
    return [result];
  },
});
