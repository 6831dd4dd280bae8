export {
  parseJson,
  member,
  members,
  sliceOf,
  JSON_DEFAULT_LIMITS,
  type JsonNode,
  type JsonEntry,
  type JsonLimits,
} from './json-document';
export { JsonSyntaxError, JsonLimitError } from './json-error';
export {
  parseWorkflow,
  workflowOf,
  linkOf,
  isUiFormat,
  type WorkflowGraph,
  type GraphNode,
  type Link,
} from './workflow';
export { validateWorkflow, GRAPH_DEFAULT_LIMITS, type GraphLimits } from './validation';
export { neededNodes, outputNodes, topologicalOrder } from './dependencies';
export { linksOf, type NodeLink } from './links';
export {
  assetReferences,
  replaceAssetReferences,
  type AssetReference,
  type AssetReferences,
  type AssetReplacement,
  type MalformedAssetReference,
} from './asset-reference';
export { planProgress, type ProgressPlan, type PlannedNode } from './progress-plan';
export { ProgressTracker } from './progress';
export { modelNames, modelsOf } from './models';
export { unwrapped } from './literal';
export { jsonNumber, pythonFloat, pythonInt } from './python-number';
