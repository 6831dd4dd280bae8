import { defineNode } from '../../node-api/node-class';
import { image } from '../../node-api/node-input';
import { PREVIEW_LEVEL, previewPrefix, savePictures } from './save-pictures';

export const previewImage = defineNode({
  name: 'PreviewImage',
  displayName: 'Preview Image',
  category: 'image',
  description: 'Every picture as a PNG file, under a name of its own.',
  inputs: { images: image() },
  outputNode: true,
  async run({ images }, context) {
    await savePictures(images, previewPrefix(context.nodeId), PREVIEW_LEVEL, context);
    return [];
  },
});
