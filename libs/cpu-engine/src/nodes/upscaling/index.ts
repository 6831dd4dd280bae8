import { fluxKontextImageScale } from './flux-kontext-image-scale';
import { imageScale } from './image-scale';
import { imageScaleBy } from './image-scale-by';
import { imageScaleToMaxDimension } from './image-scale-to-max-dimension';
import { imageScaleToTotalPixels } from './image-scale-to-total-pixels';

export const UPSCALING_NODES = [
  imageScale,
  imageScaleBy,
  imageScaleToTotalPixels,
  imageScaleToMaxDimension,
  fluxKontextImageScale,
];
