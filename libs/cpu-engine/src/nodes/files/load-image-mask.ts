import { defineNode, output } from '../../node-api/node-class';
import { combo, imageFile } from '../../node-api/node-input';
import { loadChannel } from './load-picture';

const CHANNELS = { red: 0, green: 1, blue: 2, alpha: 3 };

export const loadImageMask = defineNode({
  name: 'LoadImageMask',
  displayName: 'Load Image (as Mask)',
  category: 'mask',
  description: 'One channel of an input file as a mask; of alpha, what is transparent is masked.',
  inputs: { image: imageFile(), channel: combo(['alpha', 'red', 'green', 'blue']) },
  outputs: [output('MASK')],
  run: async ({ image: name, channel }, context) => [await loadChannel(name, CHANNELS[channel], context)],
});
