export { GraphRefusal } from './graph-refusal';
export { readObjectInfo } from './object-info';
export { sanitiseGraph, type SanitisedGraph } from './sanitise-graph';
