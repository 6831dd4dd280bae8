import { defineNode } from '../../node-api/node-class';
import { image, string } from '../../node-api/node-input';
import { SAVED_LEVEL, savePictures } from './save-pictures';

export const saveImage = defineNode({
  name: 'SaveImage',
  displayName: 'Save Image',
  category: 'image',
  description: 'Every picture as a PNG file. The prefix may hold folders and tokens such as %width%.',
  inputs: { images: image(), filename_prefix: string({ default: 'ComfyUI' }) },
  outputNode: true,
  async run({ images, filename_prefix }, context) {
    await savePictures(images, filename_prefix, SAVED_LEVEL, context);
    return [];
  },
});
