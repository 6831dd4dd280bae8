import { loadImage } from './load-image';
import { loadImageMask } from './load-image-mask';
import { loadImageOutput } from './load-image-output';
import { maskPreview } from './mask-preview';
import { previewAny } from './preview-any';
import { previewImage } from './preview-image';
import { saveAnimatedPng } from './save-animated-png';
import { saveAnimatedWebp } from './save-animated-webp';
import { saveImage } from './save-image';

export const FILE_NODES = [
  loadImage,
  loadImageMask,
  loadImageOutput,
  saveImage,
  previewImage,
  maskPreview,
  saveAnimatedWebp,
  saveAnimatedPng,
  previewAny,
];
