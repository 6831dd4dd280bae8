import { compositeOver } from '../../image/composite';
import { withChannels } from '../../image/channels';
import { resize } from '../../image/resize/resize';
import { defineNode, output } from '../../node-api/node-class';
import { boolean, image, mask, optional, pixels } from '../../node-api/node-input';

export const imageCompositeMasked = defineNode({
  name: 'ImageCompositeMasked',
  category: 'image',
  description: 'One picture laid over another at a place; a mask, if given, says how much of it shows.',
  inputs: {
    destination: image(),
    source: image(),
    x: pixels(0, 0),
    y: pixels(0, 0),
    resize_source: boolean(false),
    mask: optional(mask()),
  },
  outputs: [output('IMAGE')],
  run({ destination, source, x, y, resize_source, mask }, context) {
    const fitted = resize_source ? resize(source, destination, 'bilinear', context) : source;
    const matched = withChannels(fitted, destination.channels, context);
    const place = { x: Math.min(x, destination.width), y: Math.min(y, destination.height) };
    return [compositeOver(destination, matched, place, mask, context)];
  },
});
