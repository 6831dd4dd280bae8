import { imageCrop } from './image-crop';
import { imageFlip } from './image-flip';
import { imageRotate } from './image-rotate';
import { imageStitch } from './image-stitch';
import { resizeAndPadImage } from './resize-and-pad-image';

export const TRANSFORM_NODES = [imageCrop, imageRotate, imageFlip, imageStitch, resizeAndPadImage];
