export { readGraph, graphTextOf, withInput, type GraphFault, type GraphNode } from './graph';
export { nodeStates, type NodeState } from './node-states';
export { sawNode, type SeenNodes } from './seen-nodes';
