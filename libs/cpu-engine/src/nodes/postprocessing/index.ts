import { imageBlend } from './image-blend';
import { imageBlur } from './image-blur';
import { imageQuantize } from './image-quantize';
import { imageSharpen } from './image-sharpen';

export const POSTPROCESSING_NODES = [imageBlend, imageBlur, imageQuantize, imageSharpen];
