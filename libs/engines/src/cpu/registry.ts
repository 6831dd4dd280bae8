import type { NodeCatalogue } from '@millrace/contracts';
import type { CpuNode } from './node-class';
import { COMPOSITING_NODES } from './nodes/compositing';
import { FILE_NODES } from './nodes/files';
import { GENERATE_NODES } from './nodes/generate';
import { IMAGE_NODES } from './nodes/image';
import { MASK_NODES } from './nodes/mask';
import { POSTPROCESSING_NODES } from './nodes/postprocessing';
import { PRIMITIVE_NODES } from './nodes/primitive/primitives';
import { TEXT_NODES } from './nodes/text';
import { TRANSFORM_NODES } from './nodes/transform';
import { UPSCALING_NODES } from './nodes/upscaling';

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
