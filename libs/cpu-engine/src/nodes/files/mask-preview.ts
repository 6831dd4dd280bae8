import { greyOf } from '../../image/channels';
import { defineNode } from '../../node-api/node-class';
import { mask } from '../../node-api/node-input';
import { SAVED_LEVEL, previewPrefix, savePictures } from './save-pictures';

export const maskPreview = defineNode({
  name: 'MaskPreview',
  category: 'mask',
  description: 'Every mask as a grey PNG file, under a name of its own.',
  inputs: { mask: mask() },
  outputNode: true,
  async run({ mask }, context) {
    await savePictures(greyOf(mask, context), previewPrefix(context.nodeId), SAVED_LEVEL, context);
    return [];
  },
});
