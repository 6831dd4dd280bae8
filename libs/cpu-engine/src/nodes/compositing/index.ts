import { joinImageWithAlpha } from './join-image-with-alpha';
import { porterDuffImageComposite } from './porter-duff-image-composite';
import { splitImageWithAlpha } from './split-image-with-alpha';

export const COMPOSITING_NODES = [porterDuffImageComposite, splitImageWithAlpha, joinImageWithAlpha];
