import { emptyImage } from './empty-image';
import { getImageSize } from './get-image-size';
import { imageAddNoise } from './image-add-noise';
import { imageBatch } from './image-batch';
import { imageCompositeMasked } from './image-composite-masked';
import { imageFromBatch } from './image-from-batch';
import { imageInvert } from './image-invert';
import { imagePadForOutpaint } from './image-pad-for-outpaint';
import { rebatchImages } from './rebatch-images';
import { repeatImageBatch } from './repeat-image-batch';

export const IMAGE_NODES = [
  emptyImage,
  imageInvert,
  imageBatch,
  imageFromBatch,
  repeatImageBatch,
  rebatchImages,
  getImageSize,
  imagePadForOutpaint,
  imageCompositeMasked,
  imageAddNoise,
];
