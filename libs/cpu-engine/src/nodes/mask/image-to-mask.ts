import { channelOf } from '../../image/channels';
import { NodeFault } from '../../node-api/node-fault';
import { defineNode, output } from '../../node-api/node-class';
import { combo, image } from '../../node-api/node-input';

const CHANNELS = ['red', 'green', 'blue', 'alpha'] as const;

export const imageToMask = defineNode({
  name: 'ImageToMask',
  displayName: 'Convert Image to Mask',
  category: 'mask',
  description: 'One channel of the picture as a mask.',
  inputs: { image: image(), channel: combo(CHANNELS) },
  outputs: [output('MASK')],
  run({ image, channel }, context) {
    const index = CHANNELS.indexOf(channel);
    if (index >= image.channels)
      throw new NodeFault(`The picture has no ${channel} channel; choose red, green or blue.`);
    return [channelOf(image, index, context)];
  },
});
