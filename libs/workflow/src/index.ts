export {
  parseJson,
  member,
  members,
  sliceOf,
  JSON_DEFAULT_LIMITS,
  type JsonNode,
  type JsonEntry,
  type JsonLimits,
} from './json/json-document';
export { JsonSyntaxError, JsonLimitError } from './json/json-error';
export {
  parseWorkflow,
  workflowOf,
  linkOf,
  isUiFormat,
  type WorkflowGraph,
  type GraphNode,
  type Link,
} from './graph/workflow';
export { validateWorkflow, GRAPH_DEFAULT_LIMITS, type GraphLimits } from './validation/validation';
export { neededNodes, outputNodes, topologicalOrder } from './graph/dependencies';
export { linksOf, type NodeLink } from './graph/links';
export {
  assetReferences,
  replaceAssetReferences,
  type AssetReference,
  type AssetReferences,
  type AssetReplacement,
  type MalformedAssetReference,
} from './graph/asset-reference';
export { planProgress, type ProgressPlan, type PlannedNode } from './progress/progress-plan';
export { ProgressTracker } from './progress/progress';
export { modelNames, modelsOf } from './graph/models';
export { unwrapped } from './validation/literal';
export { jsonNumber, pythonFloat, pythonInt } from './json/python-number';
