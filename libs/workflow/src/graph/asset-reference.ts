import { assetObjectOf, isAssetObject } from './asset-object';
import { members, type JsonNode } from '../json';
import type { WorkflowGraph } from './workflow';

/** Where a graph refers to an asset; `start` and `end` are offsets into the graph's `text`. */
interface AssetPlace {
  nodeId: string;
  inputName: string;
  start: number;
  end: number;
}

export interface AssetReference extends AssetPlace {
  /** The asset's id, a UUID in lower case. */
  id: string;
  /** Hints of the client's own, where given. */
  hash?: string;
  filePath?: string;
}

/** An object of type `core/ASSET` without an `info.id` that is a UUID: it can name no asset, hence 422 `missing_asset`. */
export type MalformedAssetReference = AssetPlace;

export interface AssetReferences {
  references: AssetReference[];
  /** The first of them. */
  malformed: MalformedAssetReference[];
  malformedCount: number;
}

/** Malformed references that are kept. More are only counted: a body may hold tens of thousands. */
const KEPT_MALFORMED = 1_000;

/** Every `core/ASSET` object at any depth of any node's inputs, in the order of nodes, inputs and text. */
export function assetReferences(graph: WorkflowGraph): AssetReferences {
  const found: AssetReferences = { references: [], malformed: [], malformedCount: 0 };
  for (const [nodeId, node] of graph.nodes) {
    for (const [inputName, value] of node.inputs) collect(value, { nodeId, inputName }, found);
  }
  return found;
}

/** Recursion is bounded by the depth that the parser allows. Nothing inside a reference is one. */
function collect(value: JsonNode, owner: Pick<AssetPlace, 'nodeId' | 'inputName'>, found: AssetReferences): void {
  if (value.kind === 'array') {
    for (const item of value.items) collect(item, owner, found);
  } else if (value.kind === 'object') {
    if (!isAssetObject(value)) {
      for (const inner of members(value).values()) collect(inner, owner, found);
      return;
    }
    const { id, ...hints } = assetObjectOf(value);
    const place = { ...owner, start: value.start, end: value.end };
    if (id === null) {
      found.malformedCount += 1;
      if (found.malformedCount <= KEPT_MALFORMED) found.malformed.push(place);
    } else found.references.push({ ...place, id, ...hints });
  }
}
