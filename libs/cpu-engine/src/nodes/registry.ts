import type { NodeCatalogue } from '@millrace/contracts';
import type { CpuNode } from '../node-api/node-class';
import { COMPOSITING_NODES } from './compositing';
import { FILE_NODES } from './files';
import { GENERATE_NODES } from './generate';
import { IMAGE_NODES } from './image';
import { MASK_NODES } from './mask';
import { POSTPROCESSING_NODES } from './postprocessing';
import { PRIMITIVE_NODES } from './primitive/primitives';
import { TEXT_NODES } from './text';
import { TRANSFORM_NODES } from './transform';
import { UPSCALING_NODES } from './upscaling';

/** Every node class of the engine, by name. */
export const CPU_NODES: ReadonlyMap<string, CpuNode> = new Map(
  [
    ...FILE_NODES,
    ...IMAGE_NODES,
    ...TRANSFORM_NODES,
    ...UPSCALING_NODES,
    ...POSTPROCESSING_NODES,
    ...MASK_NODES,
    ...COMPOSITING_NODES,
    ...TEXT_NODES,
    ...PRIMITIVE_NODES,
    ...GENERATE_NODES,
  ].map((node) => [node.name, node]),
);

/** What the nodes declare of themselves. */
export const CPU_CATALOGUE: NodeCatalogue = Object.fromEntries(
  [...CPU_NODES.values()].map(({ name, entry }) => [name, entry]),
);
