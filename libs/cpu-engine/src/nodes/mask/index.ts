import { cropMask } from './crop-mask';
import { featherMask } from './feather-mask';
import { growMask } from './grow-mask';
import { imageColorToMask } from './image-color-to-mask';
import { imageToMask } from './image-to-mask';
import { invertMask } from './invert-mask';
import { maskComposite } from './mask-composite';
import { maskToImage } from './mask-to-image';
import { solidMask } from './solid-mask';
import { thresholdMask } from './threshold-mask';

export const MASK_NODES = [
  maskToImage,
  imageToMask,
  imageColorToMask,
  solidMask,
  invertMask,
  cropMask,
  maskComposite,
  featherMask,
  growMask,
  thresholdMask,
];
