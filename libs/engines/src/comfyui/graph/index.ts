export { GraphRefusal } from './graph-refusal';
export { catalogueDigest, readObjectInfo } from './object-info';
export { sanitiseGraph, type SanitisedGraph } from './sanitise-graph';
