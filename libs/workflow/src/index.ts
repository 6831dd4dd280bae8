export {
  JsonLimitError,
  JsonSyntaxError,
  jsonNumber,
  member,
  members,
  parseJson,
  pythonFloat,
  pythonInt,
  sliceOf,
  type JsonNode,
} from './json';
export {
  assetReferences,
  isUiFormat,
  linkOf,
  modelNames,
  modelsOf,
  neededNodes,
  outputNodes,
  parseWorkflow,
  replaceAssetReferences,
  topologicalOrder,
  unwrapped,
  workOf,
  workflowOf,
  type GraphNode,
  type Link,
  type WorkflowGraph,
} from './graph';
export { validateWorkflow } from './validation';
export { planProgress, ProgressTracker, type ProgressPlan } from './progress';
