export { modelFolderOf } from './model-folders';
export { assetObjectOf, isAssetObject } from './asset-object';
export { assetReferences, type AssetReference } from './asset-reference';
export { replaceAssetReferences } from './asset-replacement';
export { classOf, inputOf, typesMeet } from './catalogue';
export { exactGraph, undeclaredClasses, type ExactWork } from './exact';
export { neededNodes, outputNodes, topologicalOrder } from './dependencies';
export { inputTypeOf, type InputType } from './input-type';
export { GraphLinks, type NodeLink } from './links';
export { modelFilesIn, isModelFile, modelFilesOfNode, modelNames, modelsOf } from './models';
export { workOf } from './work';
export { isLinkedPath, isPathInput } from './path-input';
export { limitRuns, limitsOfRuns } from './run-limits';
export { stronglyConnected } from './strongly-connected';
export {
  isUiFormat,
  linkOf,
  parseWorkflow,
  unwrapped,
  workflowOf,
  type GraphNode,
  type Link,
  type WorkflowGraph,
} from './workflow';
export {
  COMBINATIONS,
  columnsOf,
  graphOfRow,
  rowAt,
  rowCount,
  templateOf,
  textOfRow,
  type Combination,
  type GraphTemplate,
  type TableColumn,
} from './graph-table';
